/** How a `NOTE` calls the name before it; no name itself. */
const LABEL = /^\s*original script:?\s*/i

/**
 * The UN puts several spellings into one alias: `A; B`, `A b) B`, `A (the same in another script)`, `native (A; B)`. Each
 * becomes a name. A remark in brackets looks like a part of the name, so both readings are kept.
 */
export function splitUnName(text: string): string[] {
  const [whole, outside, inside] = /^([^(]+)\((.+)\)[\s,]*$/s.exec(text.trim()) ?? []
  if (whole === undefined || outside === undefined || inside === undefined) return splitPlain(text)
  if (!inside.includes(';') && isLatin(outside) === isLatin(inside.replace(LABEL, '')))
    return [whole, ...splitPlain(outside)]
  return [...splitPlain(outside), ...inside.split(/[;()]/).map((part) => part.replace(LABEL, ''))]
}

function splitPlain(text: string): string[] {
  return text.split(/;|\s[a-z]\)\s/)
}

function isLatin(text: string): boolean {
  return /\p{Script=Latin}/u.test(text)
}
