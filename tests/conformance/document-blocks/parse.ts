/** What can be said about blocks without running them. Every function returns complaints that name the line of the document. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '@ostiary/testkit/run'
import { type Block, placeOf } from './extract.ts'
import type { Program } from './programs.ts'

export const PYTHON = '/usr/bin/python3'
export const PHP = '/usr/bin/php'

export function jsonComplaints(blocks: readonly Block[]): string[] {
  return blocks
    .filter(({ language }) => language === 'json')
    .flatMap((block) => {
      try {
        JSON.parse(block.code)
        return []
      } catch (error) {
        return [`${placeOf(block)}: ${(error as Error).message}`]
      }
    })
}

export function shellComplaints(blocks: readonly Block[]): string[] {
  return blocks.filter(({ language }) => language === 'sh').flatMap((block) => said(block, 'bash', ['-n'], block.code))
}

/** A block that says which file it is from must stand in it, word for word, and a shell block that is run must name that file. */
export function fileComplaints(blocks: readonly Block[]): string[] {
  const shell = blocks
    .filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
    .map(({ code }) => code)
  return blocks.flatMap((block) => {
    const { from, code } = block
    if (from === undefined) return []
    if (!readFileSync(`${ROOT}${from}`, 'utf8').includes(code))
      return [`${placeOf(block)}: ${from} does not have this text`]
    return shell.some((one) => one.includes(from)) ? [] : [`${placeOf(block)}: no block runs ${from}`]
  })
}

export function typeComplaints(folder: string, programs: readonly Program[]): string[] {
  const { stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false', '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  })
  const documents = new Map(programs.map(({ file, document }) => [file, document]))
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line.replace(/^(\S+?)\((\d+),\d+\)/, (_, file: string, at: string) => `${documents.get(file) ?? file}:${at}`),
    )
}

const READ_IT = 'import ast,sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])'
const CHECKED_BY = {
  js: { command: process.execPath, args: ['--check'] },
  python: { command: PYTHON, args: ['-c', READ_IT] },
  php: { command: PHP, args: ['-l'] },
} as const

export function syntaxComplaints(
  folder: string,
  programs: readonly Program[],
  language: 'js' | 'python' | 'php',
): string[] {
  return programs
    .filter((program) => program.language === language)
    .flatMap(({ file, blocks }) => {
      const { command, args } = CHECKED_BY[language]
      const [first] = blocks
      return first ? said(first, command, [...args, join(folder, file)]) : []
    })
}

function said(block: Block, command: string, args: readonly string[], input?: string): string[] {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', input })
  return status === 0 ? [] : [`${placeOf(block)}: ${stderr || stdout || `${command} could not be started`}`]
}
