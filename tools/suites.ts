/** The test suites, and what of them every merge runs. */
import { readFileSync } from 'node:fs'
import { ROOT } from '@ostiary/testkit/root'

export interface SuiteShape {
  files: string[]
  without: RegExp
  /** So many processes run at once. With one, all files run in it. */
  atOnce: number
  /** About so many files share a process. Without it each file has its own. */
  grouped?: number
}

const suites = {
  pure: {
    files: [
      '{apps,packages}/*/src/**/*.test.ts',
      '{models,measures,tools}/**/*.test.ts',
      'tests/{testkit,puppet,conformance}/**/*.test.ts',
    ],
    without: /\.api\.test\.ts$/,
    atOnce: 2,
    grouped: 20,
  },
  // These wait for the database half of the time.
  api: { files: ['apps/*/src/**/*.api.test.ts'], without: /$^/, atOnce: 3, grouped: 12 },
  acceptance: { files: ['tests/acceptance/*.test.ts'], without: /$^/, atOnce: 2 },
  // Real browsers with a camera and models: two at once on two cores would wait for each other.
  launch: { files: ['tests/acceptance/launch/*.test.ts'], without: /$^/, atOnce: 1 },
  // Long. The suite above has the shortest of them.
  documents: { files: ['tests/acceptance/documents/*.test.ts'], without: /$^/, atOnce: 1 },
  // More people who cannot make every movement. The launch suite has one.
  abilities: { files: ['tests/acceptance/abilities/*.test.ts'], without: /$^/, atOnce: 1 },
  // The whole face check in Firefox beside Chromium, with the times of both. The launch suite has more of Chromium.
  browsers: { files: ['tests/acceptance/browsers/*.test.ts'], without: /$^/, atOnce: 1 },
  // Every screen by itself, without a service and without a camera.
  screens: { files: ['tests/acceptance/screens/*.test.ts'], without: /$^/, atOnce: 2 },
  // All 44 languages, and two that are none. The suite above has six of them.
  languages: { files: ['tests/acceptance/languages/*.test.ts'], without: /$^/, atOnce: 1 },
  // Fetches other Nodes, Deno and Bun. The acceptance tests have the short form.
  packages: { files: ['tests/acceptance/packages/*.test.ts'], without: /$^/, atOnce: 1 },
} satisfies Record<string, SuiteShape>
export type Suite = keyof typeof suites
export const SUITES: Record<Suite, SuiteShape> = suites

/** The tests of `launch` and `screens` that every merge runs have this in their name. A part of them that only the whole suite runs has `[full]`. */
export const isMarked = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8').includes('[merge]')
/** What other files of the process would notice: hooks around each test, and a clock, a global or an environment of its own. */
const TOUCHES_OTHERS =
  /^(before|after)Each\(|\bmock\.(timers|method|property)\b|\bglobalThis\b|\bprocess\.env\S* =(?!=)/m
/** A file of such tests has a process of its own in every suite, as one that looks at its process, and one that takes as long as a group. */
export const isAlone = (file: string) =>
  /\/(wire|processes|testing\/statements)\.api\.test\.ts$/.test(file) ||
  TOUCHES_OTHERS.test(readFileSync(`${ROOT}${file}`, 'utf8'))
/** The homomorphic token is experimental and off unless a tenant asks for it. Its tests are a fifth of the api suite. */
const OF_THE_TOKEN =
  /^(apps\/key-holder|packages\/token|apps\/server\/src\/matcher)\/|\/(verification\/tokens|simulate-tokens)\.api\.test\.ts$/
/** The files that `--merge` keeps. Of the other suites it keeps all. */
export const MERGE: Partial<Record<Suite, (file: string) => boolean>> = {
  pure: (file) =>
    !/^(models|measures|tests\/puppet|tools\/(release|packages))\//.test(file) && !OF_THE_TOKEN.test(file),
  api: (file) => !OF_THE_TOKEN.test(file),
  acceptance: (file) => /\/(node|sdk-webhooks|install|first-day)\.test\.ts$/.test(file),
  launch: isMarked,
  screens: isMarked,
}
