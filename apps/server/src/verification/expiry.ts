const MOMENT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,3})?(?:Z|\+00:00)$/
const DURATION = /^P(?=[\dT])(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/
const WEEKS = /^P(\d{1,4})W$/

/** The milliseconds of an ISO 8601 moment in UTC. Undefined for other texts, and for days and hours that do not exist. */
export function timeOfMoment(text: string): number | undefined {
  const given = MOMENT.exec(text)?.slice(1).map(Number)
  if (!given) return undefined
  const time = Date.parse(text)
  if (Number.isNaN(time)) return undefined
  const at = new Date(time)
  // The parser takes the 31st of June for the 1st of July, and midnight for hour 24.
  const read = [
    at.getUTCFullYear(),
    at.getUTCMonth() + 1,
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    at.getUTCSeconds(),
  ]
  return read.every((value, index) => value === given[index]) ? time : undefined
}

/** The seconds of an ISO 8601 duration. Undefined for other texts, and for years and months, which have no fixed length. */
export function secondsOfDuration(text: string): number | undefined {
  const [, weeks] = WEEKS.exec(text) ?? []
  if (weeks !== undefined) return Number(weeks) * 7 * 86_400
  const found = DURATION.exec(text)
  if (!found) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0))
  return days * 86_400 + hours * 3_600 + minutes * 60 + seconds
}
