/** The version of the product. A file of its own, so that whoever prints it need not load the schemas. */
export const VERSION = '0.1.0'
