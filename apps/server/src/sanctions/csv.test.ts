import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SANCTIONS_LIMITS } from '@ostiary/contract'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { AppError } from '../platform/errors.ts'
import { createPeopleReader, type Person } from './csv.ts'
import { createPackedPeople } from './packed-people.ts'

const LIMITS: { maxBytes: number } = { maxBytes: SANCTIONS_LIMITS.fileBytes }
const HEADER = 'id,firstname,lastname,dob\n'

function read(file: string | Uint8Array, limits = LIMITS, cuts: readonly number[] = []): Person[] {
  const bytes = Buffer.from(file as string)
  const people: Person[] = []
  const reader = createPeopleReader({ ...limits, onPerson: (person) => people.push(person) })
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    reader.write(bytes.subarray(from, to))
    from = to
  }
  reader.end()
  return people
}

/** The rows or the error, in a form that can be compared. */
function outcome(file: string | Uint8Array, limits = LIMITS, cuts: readonly number[] = []): unknown {
  try {
    return read(file, limits, cuts)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const details = error.extra.details?.map(({ message }) => message)
    return { status: error.status, code: error.code, message: error.message, ...(details && { details }) }
  }
}

const person = (
  line: number,
  [id = '', firstname = '', lastname = '', dob = '']: string[],
  warnings: string[] = [],
) => ({
  line,
  id,
  firstname,
  lastname,
  dob,
  warnings,
})
const ANA = ['007', 'Ana', 'Lee', '1990-05-04']
const invalid = (message: string, ...details: string[]) => ({
  status: 400,
  code: 'INVALID_CSV',
  message,
  ...(details.length > 0 && { details }),
})
const missing = (...names: string[]) => ({
  status: 400,
  code: 'MISSING_CSV_HEADERS',
  message: 'Missing required CSV headers',
  details: names.map((name) => `has no column "${name}"`),
})

test('a row is read as written in the file: ids keep their zeros, texts their spaces', () => {
  assert.deepEqual(read(`${HEADER}007,Ana,Lee,1990-05-04\n`), [person(2, ANA)])
  const spaced = [' 7 ', ' Ana', 'Lee ', ' 1990-05-04 ']
  assert.deepEqual(read(`${HEADER}${spaced.join(',')}\n`), [person(2, spaced)])
  assert.deepEqual(read(`${HEADER}007,Ana,Lee,1990-05-04`), [person(2, ANA)], 'no line break at the end')
  assert.deepEqual(read(HEADER), [])
  assert.deepEqual(read(HEADER.trim()), [])
})

test('columns are found by name, in any order, with capitals, spaces, quotes and other columns between them', () => {
  const rows = ['ID,FirstName,LASTNAME,Dob', ' id , firstname,lastname ,\tdob', '"id","FIRSTNAME","lastname"," dob "']
  for (const header of rows) assert.deepEqual(read(`${header}\n007,Ana,Lee,1990-05-04\n`), [person(2, ANA)], header)
  const mixed = 'notes,dob,lastname,"a ""b""",firstname,id,more\nx,1990-05-04,Lee,y,Ana,007,z\n'
  assert.deepEqual(read(mixed), [person(2, ANA)])
  assert.deepEqual(read('id,id,firstname,lastname,dob\n007,8,Ana,Lee,1990-05-04'), [person(2, ANA)], 'the first wins')
})

test('commas, semicolons and tabs separate columns; the header says which', () => {
  for (const mark of [',', ';', '\t']) {
    const header = ['id', 'firstname', 'lastname', 'dob', '"notes, and; more\t"'].join(mark)
    assert.deepEqual(read(`${header}\n${ANA.join(mark)}${mark}x`), [person(2, ANA)], header)
  }
  assert.deepEqual(read('id;firstname;lastname;dob\n1;A,B;C\tD;'), [person(2, ['1', 'A,B', 'C\tD', ''])])
})

test('lines end in LF, CRLF or CR, and a byte order mark is not part of the first name', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const file = `id,firstname,lastname,dob${end}007,Ana,Lee,1990-05-04${end}${end}8,B,C,${end}`
    const rows = [person(2, ANA), person(4, ['8', 'B', 'C', ''])]
    assert.deepEqual(read(file), rows)
    assert.deepEqual(read(`\ufeff${file}`), rows)
  }
  assert.deepEqual(read(`\ufeff"id",firstname,lastname,dob\n${ANA.join(',')}`), [person(2, ANA)])
})

test('blank lines are skipped, also before the header, but lines of empty fields are rows', () => {
  const rows = read(`\n \r\n${HEADER}\n  \t\n007,Ana,Lee,1990-05-04\n\u00a0\n,,,\n""\n`)
  assert.deepEqual(rows, [
    person(6, ANA),
    person(8, [], ['EMPTY_NAME']),
    person(9, [], ['MISSING_FIELDS', 'EMPTY_NAME']),
  ])
  // The first column is not one of the four here, and still decides which lines are blank.
  assert.deepEqual(read('x,id,firstname,lastname,dob\n   \n a \n'), [person(3, [], ['MISSING_FIELDS', 'EMPTY_NAME'])])
})

test('quoted fields may contain delimiters, line breaks and doubled quotes, and line numbers count through them', () => {
  const file = `${HEADER}1,"Lee, Ana","the ""one""\r\nand\nonly",""\n2,"",""""," "\n`
  assert.deepEqual(read(file), [
    person(2, ['1', 'Lee, Ana', 'the "one"\r\nand\nonly', '']),
    person(5, ['2', '', '"', ' ']),
  ])
})

test('duplicate ids are two rows, and missing fields are empty instead of taken from earlier rows', () => {
  assert.deepEqual(read(`${HEADER}007,Ana,Lee,1990-05-04\n007,Bo\n007\n,,Poe,`), [
    person(2, ANA),
    person(3, ['007', 'Bo'], ['MISSING_FIELDS']),
    person(4, ['007'], ['MISSING_FIELDS', 'EMPTY_NAME']),
    person(5, ['', '', 'Poe']),
  ])
  assert.deepEqual(read('id,firstname,lastname,dob,notes\n007,Ana,Lee,1990-05-04'), [person(2, ANA)])
  assert.deepEqual(read(`${HEADER}007,Ana,Lee,1990-05-04,more,and more`), [person(2, ANA)])
})

test('birth dates: days, months and years from 1850 to 2100', () => {
  const warningsFor = (dob: string) => read(`${HEADER}1,A,B,${dob}`)[0]?.warnings
  for (const dob of ['', '  ', '1850-01-01', '2100-12-31', '2000-02-29', '2024-02-29', ' 1990-05-04 ']) {
    assert.deepEqual(warningsFor(dob), [], dob)
  }
  for (const dob of ['1990', '1990-05', ' 1850 ', '2100-12']) assert.deepEqual(warningsFor(dob), ['PARTIAL_DOB'], dob)
  const bad = ['1849-12-31', '2101', '1990-00', '1990-13', '1990-04-31', '1900-02-29', '2023-02-29', '1990-05-4']
  const odd = [
    '04.05.1990',
    '1990/05/04',
    '19900504',
    '1990-05-04T00:00:00Z',
    'unknown',
    '+1990',
    '１９９０',
    '1990-',
    '-',
  ]
  for (const dob of [...bad, ...odd]) assert.deepEqual(warningsFor(dob), ['INVALID_DOB'], dob)
})

test('a header without all four names is refused, and the error says which are missing', () => {
  for (const name of ['id', 'firstname', 'lastname', 'dob']) {
    const rest = ['id', 'firstname', 'lastname', 'dob'].filter((other) => other !== name)
    for (const mark of [',', ';', '\t']) assert.deepEqual(outcome(`${rest.join(mark)}\n1,2,3\n`), missing(name))
  }
  const all = missing('id', 'firstname', 'lastname', 'dob')
  for (const file of ['007,Ana,Lee,1990-05-04\n', 'name\n', ',,,\n', 'x']) assert.deepEqual(outcome(file), all, file)
  assert.deepEqual(outcome(`${'x'.repeat(SANCTIONS_LIMITS.headerChars)},${HEADER}`), {
    ...all,
    details: ['has a first line of more than 64 KB'],
  })
})

test('an empty file is refused, also if it has only blanks or line breaks', () => {
  for (const file of ['', '\ufeff', '\n', ' \r\n\r\n', '\ufeff\n\n'])
    assert.deepEqual(outcome(file), invalid('The file is empty'))
})

test('broken quoting is refused with the line on which the field begins', () => {
  const cases: [string, number][] = [
    [`${HEADER}1,"Ana,Lee,1990-05-04\n2,B,C,\n`, 2],
    [`${HEADER}1,A,B,\n2,"Ana"x,Lee,\n`, 3],
    [`${HEADER}1,Ana "the" Lee,B,\n`, 2],
    [`${HEADER}1, "Ana",Lee,\n`, 2],
    [`${HEADER}1,"Ana\n\n2,"Bo",Lee,\n`, 2],
    [`${HEADER}1,A,B,,"an extra column\n2,A,B,\n`, 2],
    [`\n"id,firstname,lastname,dob\n`, 2],
    [`id,first"name,lastname,dob\n`, 1],
  ]
  for (const [file, line] of cases) assert.deepEqual(outcome(file), invalid(`Broken quoting in line ${line}`), file)
})

test('a file that is not UTF-8 text is refused with the line', () => {
  const bad = (bytes: number[]) => Buffer.concat([Buffer.from(`${HEADER}1,A,B,\n2,A`), Buffer.from(bytes)])
  for (const bytes of [
    [0xff, 0x41],
    [0xc3],
    [0xe9, 0x2c],
    [0xed, 0xa0, 0x80],
    [0xc0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
  ]) {
    assert.deepEqual(outcome(bad(bytes)), invalid('The file is not UTF-8 text', 'line 3 is not UTF-8'))
  }
  assert.deepEqual(outcome(bad([0])), invalid('The file is not UTF-8 text', 'line 3 holds a NUL character'))
  const utf16 = Buffer.from(`\ufeff${HEADER}`, 'utf16le')
  assert.deepEqual(outcome(utf16), invalid('The file is not UTF-8 text', 'line 1 is not UTF-8'))
})

test('sizes: exactly at each limit is accepted, one more is refused', () => {
  const rows = (count: number) => HEADER + '1,A,B,\n'.repeat(count)
  const maxBytes = rows(3).length
  assert.equal(read(rows(3), { maxBytes }).length, 3)
  const tooLarge = { status: 413, code: 'FILE_TOO_LARGE', message: 'File too large' }
  assert.deepEqual(outcome(`${rows(3)}\n`, { maxBytes }), tooLarge)

  for (const letter of ['x', 'é', '😀', '""']) {
    const field = letter.repeat(SANCTIONS_LIMITS.fieldChars)
    const file = (text: string) => `${HEADER}1,"${text}",B,\n`
    assert.equal(read(file(field))[0]?.firstname, field.replaceAll('""', '"'))
    const tooLong = invalid('A field in line 2 is longer than 1000 characters')
    assert.deepEqual(outcome(file(`${field}${letter}`)), tooLong)
    assert.deepEqual(outcome(file(field.repeat(5))), tooLong)
  }
  const notes = 'x'.repeat(100_000)
  assert.deepEqual(read(`id,firstname,lastname,dob,notes\n${ANA.join(',')},${notes}`), [person(2, ANA)])
})

test('an error is reported as soon as it is known', () => {
  const writes: [string, string][] = [
    ['id,firstname,lastname\n', 'Missing required CSV headers'],
    [`${HEADER}1,"A"x`, 'Broken quoting in line 2'],
    [`${HEADER}1,${'x'.repeat(1001)}`, 'A field in line 2 is longer than 1000 characters'],
    [`${HEADER}\0`, 'The file is not UTF-8 text'],
  ]
  for (const [text, message] of writes) {
    const reader = createPeopleReader({ ...LIMITS, onPerson() {} })
    assert.throws(() => reader.write(Buffer.from(text)), { message })
  }
})

test('chunks are copied where needed, so that a caller may reuse its buffer', () => {
  const people: Person[] = []
  const reader = createPeopleReader({ ...LIMITS, onPerson: (person) => people.push(person) })
  const buffer = Buffer.alloc(1)
  for (const byte of Buffer.from(`${HEADER}1,Zoë,😀 ,\n`)) {
    buffer[0] = byte
    reader.write(buffer)
  }
  reader.end()
  assert.deepEqual(people, [person(2, ['1', 'Zoë', '😀 ', ''])])
})

/** Mulberry32, so that every run has the same files. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const PIECES = [
  'a',
  ' ',
  'é',
  '語',
  '😀',
  ',',
  ',',
  ',',
  ';',
  '"',
  '""',
  '"a,"',
  ',"b\r\n",',
  '\n',
  '\r\n',
  '\r',
  '1990-01-02',
]
const FAULTS = [Buffer.from([0xff]), Buffer.from([0xe2, 0x82]), Buffer.from([0]), Buffer.from('x'.repeat(1100))]

function randomFile(random: (below: number) => number): Buffer {
  const heads = [
    HEADER,
    `\ufeff${HEADER}`,
    'x;id;firstname;lastname;dob\r\n',
    '\r\n"id","firstname","lastname","dob"\r',
    '',
  ]
  const parts = [Buffer.from(heads[random(heads.length)] ?? '')]
  for (let count = random(40); count > 0; count--) {
    const fault = random(60) === 0 ? FAULTS[random(FAULTS.length)] : undefined
    parts.push(fault ?? Buffer.from(PIECES[random(PIECES.length)] ?? ''))
  }
  return Buffer.concat(parts)
}

test('the result does not depend on how the bytes are split into chunks', () => {
  const random = randomFrom(20261115)
  const seen = new Map<string, number>()
  for (let round = 0; round < 1500; round++) {
    const file = randomFile(random)
    const limits = { maxBytes: random(4) === 0 ? 1 + random(200) : 10_000 }
    const whole = outcome(file, limits)
    const kind = Array.isArray(whole) ? 'rows' : (whole as { message: string }).message.replace(/\d+/g, 'N')
    seen.set(kind, (seen.get(kind) ?? 0) + 1)
    const everywhere = Array.from({ length: file.length }, (_, at) => at)
    const somewhere = everywhere.filter(() => random(8) === 0)
    for (const cuts of [everywhere, somewhere]) {
      assert.deepEqual(
        outcome(file, limits, cuts),
        whole,
        JSON.stringify({ file: file.toString('latin1'), cuts, limits }),
      )
    }
  }
  assert.deepEqual(
    [...seen.keys()].sort(),
    [
      'A field in line N is longer than N characters',
      'Broken quoting in line N',
      'File too large',
      'Missing required CSV headers',
      'The file is empty',
      'The file is not UTF-N text',
      'rows',
    ],
    'the generator reaches every kind of outcome',
  )
})

/** Writes rows as well-formed CSV, to compare with what is read. */
function write(fields: readonly string[], random: (below: number) => number): string {
  return fields
    .map((field) => (/[",\r\n]/.test(field) || random(3) === 0 ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',')
}

test('rows written as well-formed CSV are read back unchanged', () => {
  const random = randomFrom(7)
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: random(6) }, () =>
      Array.from({ length: 4 }, (_, place) =>
        place === 0
          ? `id${random(9)}`
          : Array.from({ length: random(5) }, () => PIECES[random(PIECES.length)]).join(''),
      ),
    )
    const end = ['\n', '\r\n', '\r'][random(3)]
    const file = [HEADER.trim(), ...rows.map((row) => write(row, random))].join(end)
    const people = read(file, LIMITS, [random(file.length)])
    assert.deepEqual(
      people.map(({ id, firstname, lastname, dob }) => [id, firstname, lastname, dob]),
      rows,
    )
  }
})

/** As an upload is read: the rows are packed as they come. */
function readPacked(bytes: Buffer, step: number): void {
  const people = createPackedPeople()
  try {
    const reader = createPeopleReader({ ...LIMITS, onPerson: people.push })
    for (let at = 0; at < bytes.length; at += step) reader.write(bytes.subarray(at, at + step))
    reader.end()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('hostile files need little time and little memory', async () => {
  const size = SANCTIONS_LIMITS.fileBytes
  const tails = [
    '"',
    '""',
    'a',
    ' ',
    '\0',
    ',',
    ';',
    '\n',
    '\r\n',
    ',\n',
    '"\n',
    '",',
    'é',
    '\u{10ffff}',
    '","',
    '\ufeff',
  ]
  let [slowestMs, mostMb] = [0, 0]
  for (const head of ['', HEADER, `x,${HEADER}`, `x,${HEADER}"`, '"']) {
    for (const tail of tails) {
      const bytes = Buffer.from(head + tail.repeat(size / Buffer.byteLength(tail))).subarray(0, size)
      const held = heldBytes()
      const start = process.cpuUsage()
      for (const step of [bytes.length, 65_536]) readPacked(bytes, step)
      slowestMs = Math.max(slowestMs, process.cpuUsage(start).user / 1000)
      mostMb = Math.max(mostMb, (heldBytes() - held) / 1e6)
    }
  }
  await figureAtMost('csv.hostile-file-cpu-ms', 2_000, slowestMs)
  await figureAtMost('csv.hostile-file-mb', 100, mostMb)
})

test('a file of 2 MB and 40,000 rows is read in tens of milliseconds', async () => {
  const row = (index: number) =>
    `${100_000 + index},Firstname${index % 977},Lastname${index % 1301},19${10 + (index % 90)}-01-1${index % 10}\n`
  const file = Buffer.from(HEADER + Array.from({ length: 40_000 }, (_, index) => row(index)).join(''))
  const cuts = Array.from({ length: Math.floor(file.length / 65_536) }, (_, index) => (index + 1) * 65_536)
  const measureMs = () => {
    const start = process.cpuUsage()
    assert.equal(read(file, LIMITS, cuts).length, 40_000)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  // Thirty on an idle machine; the rest is a margin for busy ones.
  await figureAtMost('csv.large-file-cpu-ms', 200, () => Math.min(...Array.from({ length: 8 }, measureMs)))
})
