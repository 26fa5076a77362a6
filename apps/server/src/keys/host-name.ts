import { HOST_LIMITS } from '@ostiary/contract'
import { invalid } from '../platform/errors.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Programs read a name that ends in such a label as an address: 192.0.2.1, 3221225985, 0xc0.1. */
const NUMBER = /^(\d+|0x[0-9a-f]*)$/

/** The name in a Host header as it is stored: without the port and the dot of the root, in lower case. Pure and cheap: every request pays for it. */
export function hostNameOf(header: string): string {
  const colon = header.indexOf(':')
  const name = colon === -1 ? header : header.slice(0, colon)
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
}

/** Checks a name that is to be bound, and returns it as it is stored. */
export function readHostName(text: string): string {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase()
  const labels = name.split('.')
  if (name.length > HOST_LIMITS.nameChars || !labels.every((label) => LABEL.test(label))) {
    throw invalid(
      '/name',
      'must be a DNS host name such as node.fjord.example, without a port; names in other letters as xn--…',
    )
  }
  if (NUMBER.test(labels.at(-1) ?? '')) throw invalid('/name', 'must be a name, not an address')
  return name
}
