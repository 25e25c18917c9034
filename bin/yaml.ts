import { parseAllDocuments, stringify } from 'yaml';
import { type Yaml, YamlError } from '../core/ports.ts';

/** A request body is at most as long. */
const MAX_TEXT = 1_048_576;
/** Alias nodes that documents may resolve to; an honest manifest uses a few anchors. */
const MAX_ALIASES = 100;
/** Deeper than any resource, and far from the end of any stack. */
const MAX_DEPTH = 40;

/** The `yaml` package behind the port: no tags beyond the core schema, bounded length, aliases and depth. */
export function buildYaml(): Yaml {
  return {
    parse(text) {
      if (text.length > MAX_TEXT) throw new YamlError(`The text is longer than ${MAX_TEXT} characters.`);
      refuseDeepText(text);
      const documents = parseAllDocuments(text, { schema: 'core', uniqueKeys: true, logLevel: 'silent' });
      return [...documents].flatMap((document) => {
        const [error] = document.errors;
        if (error) throw new YamlError(firstLine(error.message));
        const value = plainOf(() => document.toJS({ maxAliasCount: MAX_ALIASES }));
        refuseDeepValue(value);
        return value === null ? [] : [value];
      });
    },
    stringify: (value) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }),
  };
}

/** Nesting shows in brackets or in indentation: both are counted before anything recursive reads the text. */
function refuseDeepText(text: string): void {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
  }
  // Brackets inside of strings count too, so the bound on text is wider than the one on values.
  if (deepest > MAX_DEPTH * 4 || /^(?:[ \t]*[-?:][ \t]+){41}/m.test(text)) throw tooDeep();
}

function refuseDeepValue(root: unknown): void {
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) throw tooDeep();
    for (const inner of Object.values(value)) pending.push({ value: inner, depth: depth + 1 });
  }
}

function tooDeep(): YamlError {
  return new YamlError(`The text is nested deeper than ${MAX_DEPTH} levels.`);
}

function plainOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new YamlError(firstLine(error instanceof Error ? error.message : String(error)));
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
