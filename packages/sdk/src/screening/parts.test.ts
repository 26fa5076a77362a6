import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlanner, cutParts, type Plan } from './parts.ts'

const HEADER = 'id,firstname,lastname,dob\n'

function plan(text: string, limits: { bytes: number }, chunk = 7): Plan {
  const planner = createPlanner(limits)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunk) planner.write(bytes.subarray(at, at + chunk))
  return planner.end()
}

/** What would be sent. */
function sent(text: string, { header, parts }: Plan): string[] {
  return parts.map(({ start, end }) => Buffer.concat([header, Buffer.from(text).subarray(start, end)]).toString())
}

/** What would be sent of a stream, which is cut as it is read. */
async function cut(text: string, limits: { bytes: number }, chunk: number): Promise<string[]> {
  async function* chunks() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const parts: string[] = []
  for await (const { bytes } of cutParts(chunks(), limits)) parts.push(Buffer.from(bytes).toString())
  return parts
}

test('a file within the limits is sent unchanged, with its blank lines', () => {
  const text = `\ufeff\n${HEADER}1,A,B,\n\n2,C,D,`
  const whole = plan(text, { bytes: 100 })
  assert.deepEqual(sent(text, whole), [text])
  assert.deepEqual(
    whole.parts.map(({ rows, lineShift }) => [rows, lineShift]),
    [[2, 0]],
  )
})

test('every part has the header, whole rows, and at most the bytes that are allowed', () => {
  const text = `${HEADER}1,A,B,\n2,C,D,\n3,E,F,\n4,G,H,\n5,I,J,\n`
  const exact = sent(text, plan(text, { bytes: HEADER.length + 14 }))
  assert.deepEqual(sent(text, plan(text, { bytes: HEADER.length + 20 })), exact)
  assert.deepEqual(exact, [`${HEADER}1,A,B,\n2,C,D,\n`, `${HEADER}3,E,F,\n4,G,H,\n`, `${HEADER}5,I,J,\n`])
})

test('quoted line breaks and doubled quotes do not end a row', () => {
  const rows = ['1,"A\nA",B,\n', '2,"C ""x""\r\n,",D,\n', '3,E,F,\n']
  const text = HEADER + rows.join('')
  assert.deepEqual(
    sent(text, plan(text, { bytes: HEADER.length + 20 }, 1)),
    rows.map((row) => HEADER + row),
  )
})

test('a line number in a part plus its shift is the line number in the file', () => {
  const text = `\n"id",firstname,"last\nname",dob\r\n1,"A\nA",B,\r\n\r\n2,C,D,\r\n`
  const { parts } = plan(text, { bytes: 46 })
  // The header has two lines, so the row of a part begins in its line 3.
  assert.deepEqual(
    parts.map(({ lineShift }) => 3 + lineShift),
    [4, 7],
  )
})

test('a lone CR ends a line, blank lines are not rows, and the last line needs no line end', () => {
  const text = 'id,firstname,lastname,dob\r1,A,B,\r   \r\r2,C,D,'
  assert.deepEqual(sent(text, plan(text, { bytes: HEADER.length + 8 }, 1)), [
    'id,firstname,lastname,dob\r1,A,B,\r',
    'id,firstname,lastname,dob\r2,C,D,',
  ])
})

test('property: for any chunks and limits, the parts hold all rows in order, also of a stream', async () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const fields = ['Ana', '"a,b"', '"l\r\nm"', '"q""q"', '虚', '""', ' ']
  for (let round = 0; round < 200; round++) {
    const end = ['\n', '\r\n', '\r'][random(3)] ?? ''
    const rows = Array.from(
      { length: random(12) },
      (_, at) => `${at},${fields[random(7)]},${fields[random(7)]},${end}${random(4) === 0 ? end : ''}`,
    )
    const text = `id,firstname,lastname,dob${end}${rows.join('')}`
    const limits = { bytes: 60 + random(60) }
    const made = plan(text, limits, 1 + random(9))
    const header = Buffer.from(made.header).toString()
    const bodies = sent(text, made).map((part) => part.slice(header.length))
    const compact = (value: string) => value.replaceAll(end + end, end)
    assert.equal(compact(bodies.join('')), compact(made.header.length === 0 ? text : rows.join('')))
    assert.equal(made.rows, rows.length)
    assert.deepEqual(await cut(text, limits, 1 + random(9)), sent(text, made))
    assert.equal(
      made.parts.reduce((sum, part) => sum + part.rows, 0),
      rows.length,
    )
  }
})

test('a row larger than a file may be is refused with its line', () => {
  const text = `${HEADER}1,A,B,\n2,"${'x'.repeat(200)}\n3,C,D,\n`
  assert.throws(() => plan(text, { bytes: 100 }), /row that begins in line 3 .*quotation mark missing/)
  assert.throws(() => plan('x'.repeat(300_000), { bytes: 100 }, 65_536), /first line is too long/)
})

test('a stream without an end is refused when its first row is too large, and its parts are cut while it is read', async () => {
  async function* endless(start: string, more: string) {
    yield Buffer.from(start)
    for (;;) yield Buffer.from(more)
  }
  const first = async (chunks: AsyncIterable<Uint8Array>) => (await cutParts(chunks, { bytes: 100 }).next()).value
  await assert.rejects(first(endless(`${HEADER}1,"A`, 'x'.repeat(60))), /line 2 .*quotation mark missing/)
  await assert.rejects(first(endless('\n', ' \n')), /no line with the names/)
  assert.equal((await first(endless(HEADER, '1,A,B,\n')))?.rows, 10)
  assert.equal((await first(endless(`${HEADER}1,A,B,\n`, '\n')))?.rows, 1)
})
