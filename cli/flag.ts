/** A field of an operation as the words of an option. */
export const kebabOf = (field: string) =>
  field.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const flagOf = (field: string) => `--${kebabOf(field)}`;
