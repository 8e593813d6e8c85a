// node pa11y.mjs BROWSER: pa11y with a browser that stays. Each line `{ url, runner }` is answered with `{ issues }`.

import pa11y from 'pa11y'
import { answers, launch } from './lines.mjs'

const browser = await launch(process.argv[2])
await answers(async ({ url, runner }) => {
  const { issues } = await pa11y(url, { browser, runners: [runner] })
  return { issues: issues.length }
})
await browser.close()
