export const NUMBER_DIGITS = 2

/** The digits in what a user types, as the service wants them. An Arabic or Persian keyboard types other ones. */
export function digitsOf(typed: string): string {
  return typed
    .normalize('NFKC')
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replaceAll(/\D/g, '')
    .slice(0, NUMBER_DIGITS)
}
