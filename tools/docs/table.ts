/** `head` has the titles of the columns, with ` | ` between them. */
export function table(head: string, rows: readonly (readonly unknown[])[]): string {
  const columns = head.split(' | ').length
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  return [`| ${head} |`, `|${'---|'.repeat(columns)}`, ...lines].join('\n')
}

/** A document with the table behind each mark `<!-- generated: name -->` replaced. The rest of it is written by hand. */
export function withTables(document: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, made]) => {
    const mark = `<!-- generated: ${name} -->\n\n`
    const from = text.indexOf(mark) + mark.length
    if (from < mark.length) throw new Error(`A document has lost its mark: ${mark.trim()}`)
    const rest = text.slice(from).replace(/^(\|.*\n)*/, '')
    return `${text.slice(0, from)}${made}\n${rest}`
  }, document)
}
