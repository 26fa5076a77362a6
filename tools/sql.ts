/** Lists the named statements of the server, or prints one so that it can be pasted into psql. */
import { loadStatements } from '@ostiary/server/conformance'

const [wanted] = process.argv.slice(2)
const statements = await loadStatements()
const found = statements.find(({ name }) => name === wanted)

if (found) console.info(forPsql(found))
else {
  const names = statements.map(({ name }) => name).filter((name) => name.includes(wanted ?? ''))
  console.info(names.join('\n') || `No statement has a name with "${wanted}" in it`)
  if (wanted !== undefined) process.exitCode = 1
}

/** PostgreSQL finds out the types of the values, as it does for the server. */
function forPsql({ name, text }: { name: string; text: string }): string {
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
  const values = Array.from({ length: Math.max(0, ...places) }, (_, index) => `$${index + 1}`).join(', ')
  return `prepare "${name}" as\n${text};\n-- execute "${name}"${values && ` (${values})`};`
}
