// Loaded into every process of Node that a profiled script starts: keeps a profile of it below the project.
import { Session } from 'node:inspector';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const managers = ['npm', 'npm-cli', 'npx', 'npx-cli', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack'];
const { cpu, heap, millis, out } = JSON.parse(process.env.GATEWRIGHT_PROFILE);
// The first process says where: those that it starts may work elsewhere.
const folder = (process.env.GATEWRIGHT_PROFILE_FOLDER ??= resolve(out));
const main = basename(process.argv[1] ?? '').replace(/\.[cm]?js$/, '');

if (isMainThread && !managers.includes(main)) {
  const session = new Session();
  session.connect();
  if (cpu) {
    session.post('Profiler.enable');
    session.post('Profiler.start');
  }
  if (heap) {
    session.post('HeapProfiler.enable');
    // What was collected again was allocated, too.
    session.post('HeapProfiler.startSampling', {
      samplingInterval: 32768,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  }
  // By number, so that whoever reads them knows their names. Nothing that is there is written over.
  const keep = (name, ending, profile) => {
    mkdirSync(folder, { recursive: true });
    for (let number = 1; number <= 20; number += 1) {
      try {
        writeFileSync(join(folder, `${name}-${number}.${ending}`), JSON.stringify(profile), { flag: 'wx' });
        return;
      } catch (error) {
        if (error.code !== 'EEXIST') return;
      }
    }
  };
  process.on('exit', () => {
    if (cpu) {
      session.post('Profiler.stop', (error, said) => error || keep('cpu', 'cpuprofile', said.profile));
    }
    if (heap) {
      session.post('HeapProfiler.stopSampling', (error, said) => error || keep('heap', 'heapprofile', said.profile));
    }
  });
  // What would go on for ever ends here, as if it had said so itself.
  setTimeout(() => process.exit(0), millis).unref();
}
