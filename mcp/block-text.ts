import { visibleText } from '../core/base/as-data.ts';
import { fenced } from '../core/effect/markdown.ts';

/** Text as a block that nothing in it can end. */
export function blockText(language: 'json' | 'text' | '', text: string): string {
  return fenced(
    language,
    text.split(/\r\n|[\n\r\u2028\u2029\u0085]/).map((line) => visibleText(line)),
  ).join('\n');
}
