# Lists the newest version of each package of a file of names, as `pip list --outdated` does: of records that say version 0, so that
# every package that the registry has is behind. Arguments: the file, then flags of `pip list`.
import os
import sys
import tempfile

records = tempfile.mkdtemp()
with open(sys.argv[1], encoding="utf-8") as names:
    for name in names.read().split():
        record = os.path.join(records, name.replace("-", "_") + "-0.dist-info")
        os.makedirs(record, exist_ok=True)
        with open(os.path.join(record, "METADATA"), "w", encoding="utf-8") as metadata:
            metadata.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
listing = ["-m", "pip", "list", "--outdated", "--format", "json", "--path", records]
os.execv(sys.executable, [sys.executable, "-I", *listing, *sys.argv[2:]])
