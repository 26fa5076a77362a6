/** The keys of the English texts of a folder, in their order: `virtual:text-keys/documents/` for `texts/documents`. */
declare module 'virtual:text-keys/*' {
  const keys: readonly string[]
  // biome-ignore lint/style/noDefaultExport: the module is made by a plugin of ours, in the form of a JSON file.
  export default keys
}
