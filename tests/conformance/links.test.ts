import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/run'

const withoutCode = (text: string) => text.replace(/^( *)(```+)[\s\S]*?\n\1\2$/gm, '')

/** As a forge names the headings of a document: the second of the same name ends with "-1". */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#+ (.*)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = words.replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')
    let name = slug
    for (let count = 1; anchors.has(name); count++) name = `${slug}-${count}`
    anchors.add(name)
  }
  return anchors
}

test('every link of a document leads to a file of the repository, and to a heading that it has', () => {
  const files = globSync(
    ['*.md', '{.github,apps,clients,deploy,docs,examples,measures,models,packages,tests,tools}/**/*.md'],
    {
      cwd: ROOT,
      exclude: (path) => /(^|\/)(node_modules|dist|vendor)($|\/)/.test(path),
    },
  )
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const broken = files.flatMap((file) =>
    [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      const [path = '', anchor] = link.split('#')
      if (/^[a-z]+:/.test(link)) return []
      const target = path === '' ? file : normalize(join(dirname(file), path))
      if (!existsSync(join(ROOT, target))) return [`${file}: ${link}`]
      const isThere = anchor === undefined || !target.endsWith('.md') || anchorsOf(read(target)).has(anchor)
      return isThere ? [] : [`${file}: ${link}`]
    }),
  )
  assert.ok(files.length > 50)
  assert.deepEqual(broken, [])
})
