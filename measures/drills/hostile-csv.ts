/** Uploads that no honest client of area B sends: a fixed set of the worst, and any number of mutations from a seed. */
import { type ErrorCode, SANCTIONS_LIMITS } from '@ostiary/contract'
import { inventedWord } from '@ostiary/testkit/samples/synthetic-list'

export interface HostileUpload {
  kind: string
  /** After `/v2/open-sanctions/file/`. */
  path: string
  headers: Record<string, string>
  body: Buffer
  /** Sent repeatedly after the body, until the server closes the connection. */
  endless?: Buffer
  /** The connection is closed after the body, which is shorter than announced. */
  breaksOff?: boolean
  /** What may be answered, 200 by its number; any documented answer when absent. */
  expect?: readonly (ErrorCode | 200)[]
}

type Random = () => number
type Expect = HostileUpload['expect']

const { fileBytes } = SANCTIONS_LIMITS
const HEADER = 'id,firstname,lastname,dob\n'
const BOUNDARY = 'hostile-boundary'
const SYLLABLES = 'mo ha med al ab dul rah man sa id ali hus ein ah mad kar im ja mal iva nov'.split(' ')
const OK: Expect = [200]
const CSV: Expect = ['INVALID_CSV']
const HEADERS: Expect = ['MISSING_CSV_HEADERS']
const FORM: Expect = ['BAD_REQUEST', 'NO_FILE']

const int = (random: Random, max: number) => Math.floor(random() * max)
const pick = <T>(random: Random, from: readonly T[]): T => from[int(random, from.length)] as T
const bytes = (random: Random, count: number) => Buffer.from(Array.from({ length: count }, () => int(random, 256)))

/** As many repetitions as a file of this size holds beside its first line. */
const filled = (size: number, row: string) =>
  HEADER + row.repeat(Math.floor((size - HEADER.length) / Buffer.byteLength(row)))

interface FormOptions {
  field?: string
  filename?: string
  /** Parts before the file. */
  before?: string
  end?: string
}

function form(content: Buffer | string, options: FormOptions = {}): Buffer {
  const { field = 'file', filename = 'people.csv', before = '', end = `\r\n--${BOUNDARY}--\r\n` } = options
  const head = `${before}--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from(end)])
}

function upload(kind: string, body: Buffer, expect?: Expect, more: Partial<HostileUpload> = {}): HostileUpload {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...more.headers }
  return { kind, path: 'demo', body, ...(expect && { expect }), ...more, headers }
}

const file = (kind: string, content: Buffer | string, expect?: Expect, path = 'demo') =>
  upload(kind, form(content), expect, { path })

/** The worst uploads, each once. The most expensive come last, so that they do not slow down the others. */
export function worstUploads(random: Random, full: boolean): HostileUpload[] {
  return [...oddBytes(random), ...oddTables(), ...oddForms(random), ...endlessForms(), ...costlyNames(random, full)]
}

function oddBytes(random: Random): HostileUpload[] {
  return [
    file('2 MB of quotes', '"'.repeat(fileBytes), ['INVALID_CSV', 'MISSING_CSV_HEADERS']),
    file('a header, then quotes', HEADER + '"'.repeat(fileBytes - HEADER.length), ['INVALID_CSV']),
    file('2 MB of one line', 'a'.repeat(fileBytes), HEADERS),
    file('a header, then one line', HEADER + 'a'.repeat(fileBytes - HEADER.length), CSV),
    file('2 MB of NULs', Buffer.alloc(fileBytes), CSV),
    file('a header, then NULs', Buffer.concat([Buffer.from(HEADER), Buffer.alloc(fileBytes - HEADER.length)]), CSV),
    file('2 MB of line breaks', '\n'.repeat(fileBytes), CSV),
    file('a header, then line breaks', HEADER + '\r\n'.repeat((fileBytes - HEADER.length) >> 1), OK),
    file('2 MB of spaces', ' '.repeat(fileBytes)),
    file('random bytes', bytes(random, 500_000)),
    file('a header, then random bytes', Buffer.concat([Buffer.from(HEADER), bytes(random, 500_000)]), CSV),
    file('UTF-16', Buffer.from(`\ufeff${HEADER}1,a,b,\n`, 'utf16le'), ['INVALID_CSV', 'MISSING_CSV_HEADERS']),
    ...['ff', 'c080', 'e28228', 'f0288cbc', 'eda080', 'f4908080', 'c3'].map((hex) =>
      file(`invalid UTF-8 ${hex}`, Buffer.concat([Buffer.from(`${HEADER}1,a`), Buffer.from(hex, 'hex')]), CSV),
    ),
    file('an empty file', '', CSV),
  ]
}

function oddTables(): HostileUpload[] {
  const columns = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`).join(',')
  return [
    file('500,000 commas', ','.repeat(500_000), HEADERS),
    file('a header, then 500,000 commas', HEADER + ','.repeat(500_000), OK),
    file('500,000 commas in quotes', `${HEADER}1,"${','.repeat(500_000)}",b,\n`, CSV),
    file('a header of 60 KB', `${columns(9_000)},${HEADER}${','.repeat(9_000)}1,a,b,\n`, OK),
    file('a header of 1 MB', `${columns(150_000)},${HEADER}`, HEADERS),
    file('a header in open quotes', `"id,firstname,lastname,dob\n${'1,a,b,\n'.repeat(200_000)}`),
    file('40,000 columns a row', filled(fileBytes, `1,a,b,${','.repeat(40_000)}\n`), OK),
    file('419,000 rows of 5 bytes', filled(fileBytes, '1,,,\n'), OK),
    file('a million rows of 2 bytes', filled(fileBytes, '1\n'), OK),
    file('2 MB to the byte', filled(fileBytes, `${'1,a,b,'.padEnd(59, 'x')}\n`).padEnd(fileBytes, ' '), OK),
    file('2 MB and a byte', filled(fileBytes, `${'1,a,b,'.padEnd(59, 'x')}\n`).padEnd(fileBytes + 1, ' '), [
      'FILE_TOO_LARGE',
    ]),
    file('nested quotes', filled(fileBytes, '1,"""a"" """"b""""","""""""",\n'), OK),
    file('a quote that never ends', `${HEADER}1,"${'a\n'.repeat(400)}`, CSV),
    file('only the header', HEADER, OK),
    file('columns named twice', `id,id,firstname,lastname,dob,dob\n${'1,2,a,b,,1990\n'.repeat(1_000)}`),
    file('columns of a prototype', `__proto__,constructor,${HEADER}${'x,y,1,a,b,\n'.repeat(1_000)}`, OK),
    file('impossible dates', filled(fileBytes, '1,a,b,9999-99-99T99:99\n'), OK),
  ]
}

/** Most of them fill a quarter of a file: with --full all of it. */
function costlyNames(random: Random, full: boolean): HostileUpload[] {
  const most = full ? fileBytes : fileBytes / 4
  const long = () => Array.from({ length: 330 }, () => pick(random, SYLLABLES)).join('')
  const word = (syllables: number) => Array.from({ length: syllables }, () => pick(random, SYLLABLES)).join('')
  const words = (count: number, syllables: number) => Array.from({ length: count }, () => word(syllables)).join(' ')
  const rowsOf = (name: () => string, size = most) => {
    let text = HEADER
    let left = size - HEADER.length
    for (let n = 0; ; n++) {
      const row = `${n},${name()},${name()},\n`
      left -= Buffer.byteLength(row)
      if (left < 0) break
      text += row
    }
    return text
  }
  const scripts = [
    'Лукашенко',
    'محمد',
    '习近平',
    '김정은',
    'プーチン',
    'नरेन्द्र',
    'ნინო',
    'Ἀχιλλεύς',
    'משה',
    'ไทย',
    'አበበ',
    'Ⰰⰱⰲ',
    '𐎀𐎁',
    '🙂',
  ]
  return [
    file(
      'names of 1,000 letters',
      rowsOf(() => long().slice(0, 1_000)),
      OK,
    ),
    file('the same letter 1,000 times', filled(most, `1,${'a'.repeat(1_000)},${'b'.repeat(1_000)},\n`), OK),
    file(
      'ten long words',
      rowsOf(() => words(5, 6)),
      OK,
    ),
    file(
      'ten long words, low threshold',
      rowsOf(() => words(5, 6)),
      OK,
      'demo?scoreThreshold=0.01',
    ),
    file('1,000 initials', filled(most, `1,${'a '.repeat(500)},${'b. '.repeat(333)},\n`), OK),
    file(
      '1,000 short words',
      rowsOf(() => words(300, 1).slice(0, 999)),
      OK,
    ),
    file('1,000 hyphens', filled(most, `1,${'-'.repeat(999)},${'a-'.repeat(499)},\n`), OK),
    file(
      'words without end to join',
      rowsOf(() => Array.from({ length: 40 }, (_, n) => inventedWord(n)).join('-')),
      OK,
    ),
    file('the same listed row 40,000 times', HEADER + '1,Vardo,Quellmar,1961-04-17\n'.repeat(40_000), OK),
    file('everybody matches', filled(most, '1,Vardo,Quellmar,1961-04-17\n'), OK, 'demo?scoreThreshold=0.01'),
    file(
      'every script',
      rowsOf(() => `${pick(random, scripts)} ${pick(random, scripts)}`),
      OK,
    ),
    file('every letter', `${HEADER}${everyLetter()}`, OK),
    file('marks upon marks', filled(most, `1,a${'\u0301'.repeat(900)},b${'\u20dd'.repeat(300)},\n`), OK),
    file('letters of two units', filled(most, `1,${'𝕬'.repeat(1_000)},${'🙂'.repeat(1_000)},\n`), OK),
    file('Arabic without spaces', filled(most, `1,${'عبدالرحمن'.repeat(110)},${'محمد'.repeat(240)},\n`), OK),
    file('Han without spaces', filled(most, `1,${'習近平'.repeat(330)},${'王'.repeat(1_000)},\n`), OK),
    file('a name too long by one', `${HEADER}1,${'a'.repeat(1_001)},b,\n`, CSV),
    file('letters that grow', filled(most, `1,${'\ufdfa'.repeat(1_000)},${'ﬃ'.repeat(1_000)},\n`), OK),
  ]
}

/** Some of every block of Unicode, a thousand to a field. */
function everyLetter(): string {
  const fields: string[] = []
  let field = ''
  for (let code = 0xa0; code < 0x32_000; code += 3) {
    if (code < 0xd800 || code > 0xdfff) field += String.fromCodePoint(code)
    if ([...field].length < 1_000) continue
    fields.push(field)
    field = ''
  }
  return fields.map((each, n) => `${n},${each},x ${each.slice(0, 900)},\n`).join('')
}

function oddForms(random: Random): HostileUpload[] {
  const small = `${HEADER}1,a,b,\n`
  const part = (name: string, value = 'x') =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const typed = (type: string, body = form(small), expect?: Expect) =>
    upload(`content type ${type.slice(0, 60)}`, body, expect, { headers: { 'content-type': type } })
  const whole = form(small)
  const NOT_A_FORM: Expect = ['UNSUPPORTED_MEDIA_TYPE', 'NO_FILE', 'BAD_REQUEST', 'INVALID_JSON', 'PAYLOAD_TOO_LARGE']
  return [
    upload('no last boundary', form(small, { end: '' }), FORM),
    upload('half a boundary', form(small, { end: `\r\n--${BOUNDARY.slice(0, 5)}` }), FORM),
    upload('breaks off', whole.subarray(0, whole.length - 30), ['BAD_REQUEST'], { breaksOff: true }),
    upload('breaks off in the head of a part', whole.subarray(0, 40), ['BAD_REQUEST'], { breaksOff: true }),
    typed('multipart/form-data; boundary=another', whole, FORM),
    typed('multipart/form-data', whole, FORM),
    typed('multipart/form-data; boundary=', whole, FORM),
    typed(`multipart/form-data; boundary=${'b'.repeat(5_000)}`, whole, FORM),
    typed('multipart/form-data; boundary="; boundary=\\', whole, FORM),
    typed('multipart/mixed; boundary=x', whole, NOT_A_FORM),
    typed('application/json', Buffer.from('{}'), NOT_A_FORM),
    typed('application/x-www-form-urlencoded', Buffer.from('file=x'), NOT_A_FORM),
    typed('text/csv', Buffer.from(small), NOT_A_FORM),
    typed('', whole, NOT_A_FORM),
    upload('compressed', bytes(random, 1_000), undefined, { headers: { 'content-encoding': 'gzip' } }),
    upload('no body', Buffer.alloc(0), FORM),
    upload('a part without a head', Buffer.from(`--${BOUNDARY} c\r\n--${BOUNDARY}--`), FORM),
    upload('only the end', Buffer.from(`--${BOUNDARY}--\r\n`), FORM),
    upload('5,000 fields', form(small, { before: Array.from({ length: 5_000 }, (_, n) => part(`f${n}`)).join('') })),
    upload('30,000 empty parts', Buffer.from(`${`--${BOUNDARY}\r\n\r\n\r\n`.repeat(30_000)}--${BOUNDARY}--\r\n`), FORM),
    upload('5,000 files', Buffer.concat([...Array.from({ length: 5_000 }, () => form(small, { end: '\r\n' })), whole])),
    upload('two files', Buffer.concat([form(small, { end: '\r\n' }), whole]), ['VALIDATION_FAILED']),
    upload('a field of 1 MB', form(small, { before: part('x', 'y'.repeat(1_000_000)) })),
    upload('a field name of 50 KB', form(small, { field: 'x'.repeat(50_000) })),
    upload('a file name of 50 KB', form(small, { filename: `${'x'.repeat(50_000)}.csv` })),
    upload('a part’s head of 1 MB', form(small, { filename: `${'x'.repeat(1_000_000)}.csv` })),
    upload('a file name of a path', form(small, { filename: '../../../etc/passwd\0.csv' })),
    upload('another kind of file', form(small, { filename: 'people.xlsx' }), ['NOT_A_CSV_FILE']),
    upload('the field is no file', Buffer.from(`${part('file', small)}--${BOUNDARY}--\r\n`), FORM),
    upload('a file under another name', form(small, { field: 'people' }), ['NO_FILE']),
    upload('random bytes as the form', bytes(random, 300_000), FORM),
    ...['0', '-1', '1.01', 'NaN', '1e999', '', '0x1', '0.9&scoreThreshold=0.8'].map((value) =>
      file(
        `threshold ${value}`,
        small,
        value === '0x1' ? undefined : ['VALIDATION_FAILED'],
        `demo?scoreThreshold=${value}`,
      ),
    ),
    ...['..%2f..%2fetc', 'DEMO', 'demo%00', '%ff', 'x'.repeat(300), 'custom_x', 'tenants', '.', '%2e%2e'].map((name) =>
      file(
        `dataset ${name.slice(0, 30)}`,
        small,
        ['UNKNOWN_DATASET', 'NOT_FOUND', 'BAD_REQUEST', 'METHOD_NOT_ALLOWED'],
        name,
      ),
    ),
    ...['..%2f..%2fx', 'x'.repeat(1_999), '%00', 'a%2bb', 'demo@x'].map((version) =>
      file(
        `version ${version.slice(0, 30)}`,
        small,
        ['UNKNOWN_DATASET', 'VALIDATION_FAILED'],
        `demo?version=${version}`,
      ),
    ),
  ]
}

/** Forms that never end; the server must stop reading. */
function endlessForms(): HostileUpload[] {
  const chunk = (text: string) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
  const head = (filename: string) => chunk(form('', { filename, end: '' }).toString() + HEADER)
  const rows = chunk('1,a,b,\n'.repeat(9_000))
  const endless = (kind: string, body: Buffer, endlessly: Buffer, expect: Expect, more: Partial<HostileUpload> = {}) =>
    upload(`endless ${kind}`, body, expect, {
      ...more,
      endless: endlessly,
      headers: { 'transfer-encoding': 'chunked', ...more.headers },
    })
  const ANY_SIZE: Expect = ['FILE_TOO_LARGE', 'PAYLOAD_TOO_LARGE']
  return [
    endless('rows', head('x.csv'), rows, ANY_SIZE),
    endless('row', head('x.csv'), chunk(','.repeat(60_000)), ANY_SIZE),
    endless('field', head('x.csv'), chunk('a'.repeat(60_000)), CSV),
    endless('text before the form', chunk('x'), chunk('x'.repeat(60_000)), [...ANY_SIZE, 'BAD_REQUEST']),
    endless('file of another kind', head('x.xlsx'), rows, ['NOT_A_CSV_FILE']),
    endless('file for an unknown dataset', head('x.csv'), rows, ['UNKNOWN_DATASET'], { path: 'nothing' }),
    endless(
      'JSON',
      chunk('['),
      chunk('1,'.repeat(30_000)),
      ['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE', 'NO_FILE'],
      {
        headers: { 'content-type': 'application/json' },
      },
    ),
    endless('announced as 1 GB', form(HEADER, { end: '' }), Buffer.from('1,a,b,\n'.repeat(9_000)), ANY_SIZE, {
      headers: { 'transfer-encoding': '', 'content-length': '1000000000' },
    }),
  ]
}

const TOKENS = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\0',
  '\ufeff',
  `--${BOUNDARY}`,
  '--',
  '\r\n\r\n',
  'é',
  '\u202e',
  '𝕬',
  "'",
  '=',
].map((token) => Buffer.from(token))

/** An honest form with one to eight random mutations. */
export function mutatedUpload(random: Random, honest: string): HostileUpload {
  let body = form(honest)
  const slips = 1 + int(random, 8)
  for (let n = 0; n < slips; n++) body = mutated(random, body)
  const broken = random() < 0.05
  const query = random() < 0.2 ? `?scoreThreshold=${random().toFixed(3)}` : ''
  return upload('mutation', body, undefined, { path: `demo${query}`, ...(broken && { breaksOff: true }) })
}

function mutated(random: Random, body: Buffer): Buffer {
  const at = int(random, body.length)
  const to = Math.min(body.length, at + 1 + int(random, random() < 0.5 ? 4 : 200))
  const cut = (middle: Uint8Array, end = to) => Buffer.concat([body.subarray(0, at), middle, body.subarray(end)])
  switch (int(random, 7)) {
    case 0:
      return cut(bytes(random, 1), at + 1)
    case 1:
      return cut(Buffer.alloc(0))
    case 2:
      return cut(pick(random, TOKENS), at)
    case 3:
      return cut(Buffer.concat(Array.from({ length: 1 + int(random, 300) }, () => body.subarray(at, to))))
    case 4:
      return cut(pick(random, TOKENS))
    case 5:
      return cut(bytes(random, to - at))
    default:
      return cut(body.subarray(at, to).toReversed())
  }
}
