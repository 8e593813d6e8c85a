// node reference.mjs BROWSER AXE: what axe-core itself says of pages. Each line `{ url, scheme }` is answered with
// `{ violations: [[rule, impact, target]], incomplete: [[rule, impact, target]], frames }`: `axe.run()` as it is by default, in the
// page's own world. A target is written as in gatewright's reports: frames parted by ` | `, shadow trees by ` >>> `.

import { readFileSync } from 'node:fs'
import { answers, launch } from './lines.mjs'

const [program, axe] = process.argv.slice(2)
const source = readFileSync(axe, 'utf8')
const browser = await launch(program)

/** Puts axe-core into every frame; those of another origin only speak with the page if both may. */
async function inject(page) {
  for (const frame of page.frames()) {
    await frame.evaluate(`${source}; axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })`)
  }
}

const run = () =>
  globalThis.axe.run().then(({ violations, incomplete }) => {
    const selector = (part) => (Array.isArray(part) ? part.join(' >>> ') : part)
    const rows = (rules) =>
      rules.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ target }) => [id, impact, target.map(selector).join(' | ')]),
      )
    return { version: globalThis.axe.version, violations: rows(violations), incomplete: rows(incomplete) }
  })

await answers(async ({ url, scheme }) => {
  const page = await browser.newPage()
  try {
    await page.setViewport({ width: 1280, height: 800 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await page.goto(url, { waitUntil: 'load' })
    await inject(page)
    return { ...(await page.evaluate(run)), frames: page.frames().length }
  } finally {
    await page.close()
  }
})
await browser.close()
