// What the scripts of the bench have in common: a question is a line of JSON, and so is its answer.

import { createInterface } from 'node:readline'
import puppeteer from 'puppeteer-core'

/** The browser as gatewright starts it, as far as that decides what is drawn. */
export const launch = (executablePath) =>
  puppeteer.launch({
    executablePath,
    headless: 'shell',
    args: [
      '--no-sandbox',
      '--site-per-process',
      '--disable-gpu',
      '--hide-scrollbars',
      '--force-color-profile=srgb',
      '--force-device-scale-factor=1',
      '--font-render-hinting=none',
      '--disable-lcd-text',
    ],
  })

/** Answers each line of the input until it ends; one that fails says why. */
export async function answers(of) {
  for await (const line of createInterface({ input: process.stdin })) {
    let answer
    try {
      answer = await of(JSON.parse(line))
    } catch (error) {
      answer = { error: String(error?.message ?? error) }
    }
    console.log(JSON.stringify(answer))
  }
}
