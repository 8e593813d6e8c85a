// node publint.mjs ARCHIVE…: what publint says of each, one line of JSON each: its command prints sentences only.

import { readFileSync } from 'node:fs'
import { publint } from 'publint'

for (const archive of process.argv.slice(2)) {
  const bytes = readFileSync(archive)
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  let said
  try {
    const { messages } = await publint({ pack: { tarball } })
    said = { messages: messages.map(({ code, type, path, args }) => ({ code, type, path, args })) }
  } catch (error) {
    said = { fault: String(error?.message ?? error) }
  }
  console.log(JSON.stringify({ package: archive, ...said }))
}
