/** As people write labels: `key=value`, with spaces between. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

export function labelsOf(text: string): Record<string, string> {
  const terms = text.split(/\s+/).filter((term) => term !== '');
  return Object.fromEntries(
    terms.map((term) => {
      const end = term.indexOf('=');
      return end < 0 ? [term, ''] : [term.slice(0, end), term.slice(end + 1)];
    }),
  );
}
