/** Of the installation under test: from the test runner, or by hand to judge any other. */
export function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run this with npm run acceptance`)
  return value
}
