import { visibleText } from '../../base/as-data.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that is written as it stands: made by `html` alone. */
export class Markup {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** HTML whose values are escaped, all of them, unless they are HTML made so; what is not seen is spelled out. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(
    parts.map((part, index) => (index === 0 ? part : `${sourceOf(values[index - 1])}${part}`)).join(''),
  );
}

function sourceOf(value: Value | undefined): string {
  if (value instanceof Markup) return value.source;
  if (Array.isArray(value)) return value.map(({ source }: Markup) => source).join('');
  return visibleText(String(value))
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
