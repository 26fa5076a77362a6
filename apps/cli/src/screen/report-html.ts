import type { ListedMatch, MatchedRecord, RowWarning } from '@ostiary/contract'
import { score, signed, WARNING_MEANINGS } from './explain.ts'
import { alignment, html, name } from './report-alignment.ts'
import { REPORT_STYLE } from './report-style.ts'
import { count, entriesOf, personOf, plural, type Screening, type SilencedRow, screenedAt } from './screening.ts'

/** Row ids shown for each warning; the report only counts the rest. */
const IDS_SHOWN = 30

/** One self-contained file for the reviewer. It loads nothing and runs no script; all text from the file and the list is escaped. */
export function htmlReport(screening: Screening): string {
  const { matched, silenced, warnings } = screening
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>Screening of ${html(screening.fileName)} against ${html(screening.dataset)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<main>
${heading(screening)}
${matched.length > 1 ? overview(matched) : ''}
${matched.length > 0 ? `<section aria-label="Matches"><h2>To review</h2>\n${matched.map(card).join('\n')}\n</section>` : ''}
${silenced.length > 0 ? silencedSection(silenced) : ''}
${warnings.size > 0 ? warningSection(warnings) : ''}
<footer>
<p>A match says that a name and a birth date are alike, not that two people are one. A person decides.
The score runs from 0 to 1; entries below ${screening.threshold} are not shown.${screening.truncated ? ' So many rows matched that some show only their best entry.' : ''}</p>
<p>This page holds personal data: keep and delete it as your rules say.</p>
</footer>
</main>
</body>
</html>
`
}

function heading(screening: Screening): string {
  const { fileName, dataset, version, scorerVersion, threshold, runIds, total, matched, silenced, warnedRows } =
    screening
  const when = screenedAt(screening)
  const facts: [string, string][] = [
    ['Dataset', `${html(dataset)} <span class="quiet">version ${html(version)}</span>`],
    ['Threshold', `${threshold} <span class="quiet">rules ${html(scorerVersion)}</span>`],
    ...(when ? [['Screened', time(when)] satisfies [string, string]] : []),
    [runIds.length === 1 ? 'Run' : 'Runs', runIds.map((id) => `<code>${html(id)}</code>`).join('<br>')],
  ]
  const silencedCount = silenced.reduce((sum, row) => sum + row.silenced.length, 0)
  const figures: [number, string, string][] = [
    [total, total === 1 ? 'row screened' : 'rows screened', ''],
    [matched.length, matched.length === 1 ? 'row matched' : 'rows matched', matched.length > 0 ? 'alert' : 'clear'],
    [entriesOf(screening), entriesOf(screening) === 1 ? 'listed entry' : 'listed entries', ''],
    [silencedCount, 'silenced', ''],
    [warnedRows, warnedRows === 1 ? 'row with a remark' : 'rows with a remark', warnedRows > 0 ? 'remark' : ''],
  ]
  return `<header>
<p class="kicker">Sanctions screening</p>
<h1 dir="auto">${html(fileName)}</h1>
<dl class="facts">${facts.map(([term, value]) => `<div><dt>${term}</dt><dd>${value}</dd></div>`).join('')}</dl>
<ul class="figures">${figures
    .map(([value, label, tone]) => `<li class="${tone}"><b>${count(value)}</b> ${label}</li>`)
    .join('')}</ul>
${matched.length === 0 ? `<p class="none">No row reached ${threshold}.</p>` : ''}
</header>`
}

function overview(matched: readonly MatchedRecord[]): string {
  const rows = matched.map((record, index) => {
    const [best] = record.matches
    return `<tr><td><a href="#m${index + 1}">${html(record.id) || '(no id)'}</a></td><td>${name(personOf(record))}</td>
<td class="number">${score(record.score)}</td><td>${best ? name(best.name) : ''}</td>
<td class="wide">${html(best?.explanation.dob.kind.replaceAll('_', ' ') ?? '')}</td><td class="wide">${html(best?.dataset ?? '')}</td></tr>`
  })
  return `<section><h2>At a glance</h2>
<div class="scroll"><table><thead><tr><th>Row</th><th>Name</th><th class="number">Score</th><th>Closest entry</th><th class="wide">Birth date</th><th class="wide">List</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`
}

function card(record: MatchedRecord, index: number): string {
  const { id, line, firstname, lastname, dob, matches, moreMatches } = record
  return `<article id="m${index + 1}" class="card">
<aside class="person"><div class="stay">
<h3>${name(personOf(record))}</h3>
<dl>
<div><dt>Row id</dt><dd>${orNone(id)}</dd></div>
<div><dt>First name</dt><dd>${orNone(firstname)}</dd></div>
<div><dt>Last name</dt><dd>${orNone(lastname)}</dd></div>
<div><dt>Born</dt><dd>${orNone(dob)}</dd></div>
<div><dt>Line of the file</dt><dd>${count(line)}</dd></div>
</dl>
</div></aside>
<div class="entries">
${matches.map(entry).join('\n')}
${moreMatches ? `<p class="more">and ${plural(moreMatches, 'more entry', 'more entries')} at or above the threshold</p>` : ''}
<p class="decision" aria-hidden="true"><span>☐ the same person</span> <span>☐ another person</span> <span class="line">Name, date</span></p>
</div>
</article>`
}

function entry(match: ListedMatch): string {
  const { explanation, birthDate, countries, programs, topics } = match
  const alias = match.matchedName === match.name ? '' : `<p class="alias">matched as ${name(match.matchedName)}</p>`
  const facts: [string, string][] = [
    ['Born', birthDate.length > 0 ? birthDate.map(html).join(', ') : '<span class="quiet">not known</span>'],
    ['Countries', countries.map(country).join(', ')],
    ['Programmes', programs.map(name).join('<br>')],
    ['Topics', topics.map(html).join(', ')],
    ['List', `${html(match.dataset)} <span class="quiet">version ${html(match.listVersion)}</span>`],
    ['Entry', `<code>${html(match.entityId)}</code>${source(match.sourceUrl)}`],
  ]
  const { effect, kind, text } = explanation.dob
  const tone = effect > 0 ? 'for' : effect < 0 ? 'against' : 'neutral'
  return `<section class="entry">
<div class="title"><h4>${name(match.name)}</h4><p class="score"><b>${score(match.score)}</b> <span class="quiet">score</span></p></div>
${alias}
${alignment(explanation)}
<ul class="notes">
<li class="neutral"><span class="sign">${score(explanation.nameScore)}</span> The names alone</li>
<li class="${tone}" data-kind="${html(kind)}"><span class="sign">${signed(effect)}</span> ${html(text)}</li>
${explanation.notes.map((note) => `<li class="neutral"><span class="sign">·</span> ${html(note)}</li>`).join('')}
</ul>
<dl>${facts
    .filter(([, value]) => value !== '')
    .map(([term, value]) => `<div><dt>${term}</dt><dd>${value}</dd></div>`)
    .join('')}</dl>
</section>`
}

function silencedSection(rows: readonly SilencedRow[]): string {
  const lines = rows.flatMap((row) =>
    row.silenced.map(
      (
        match,
      ) => `<tr><td>${html(row.id)}</td><td>${name(personOf(row))}</td><td class="number">${score(match.score)}</td>
<td><code>${html(match.entityId)}</code></td><td>${name(match.reason)}</td><td class="nowrap">${html(match.expiresAt.slice(0, 10))}</td></tr>`,
    ),
  )
  return `<section><h2>Silenced by an exception</h2>
<p class="intro">These entries would have matched. Someone has said that they are other people, until the day shown.</p>
<div class="scroll"><table class="silenced"><thead><tr><th>Row</th><th>Name</th><th class="number">Score</th><th>Entry</th><th>Reason</th><th>Until</th></tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div></section>`
}

function warningSection(warnings: ReadonlyMap<RowWarning, readonly string[]>): string {
  const items = [...warnings].map(([warning, ids]) => {
    const shown = ids.slice(0, IDS_SHOWN).map((id) => `<bdi>${html(id) || '(no id)'}</bdi>`)
    const rest = ids.length > IDS_SHOWN ? ` and ${count(ids.length - IDS_SHOWN)} more` : ''
    return `<li><b>${html(WARNING_MEANINGS[warning] ?? warning)}</b><br>${plural(ids.length, 'row')}: ${shown.join(', ')}${rest}</li>`
  })
  return `<section><h2>Rows with a remark</h2><ul class="remarks">${items.join('\n')}</ul></section>`
}

const orNone = (text: string) => (text.trim() === '' ? '<span class="quiet">none</span>' : name(text))

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

function country(code: string): string {
  // User-assigned ISO 3166 codes have no name; Intl would invent one.
  if (!/^[a-z]{2}$/.test(code) || /^(aa|q[m-z]|x[a-jl-z]|zz)$/.test(code)) return html(code.toUpperCase())
  return html(regions.of(code.toUpperCase()) ?? code)
}

/** Lists are untrusted data: only http and https addresses become links. */
function source(url: string | null): string {
  if (url === null || url === '') return ''
  const isWeb = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
  return isWeb
    ? `<br><a class="source" href="${html(url)}" rel="noopener noreferrer" target="_blank">${html(url)}</a>`
    : `<br><span class="source">${html(url)}</span>`
}

function time(when: Date): string {
  const iso = when.toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 10)} <span class="quiet">${iso.slice(11, 16)} UTC</span></time>`
}
