/** The version of the product. A separate file, so that code that prints it need not load the schemas. */
export const VERSION = '0.1.0'
