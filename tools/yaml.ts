import { constructFromEvents, EVENT_ID, type Event, parseEvents, YAMLException } from 'js-yaml';
import { JSON_LIMITS } from '../core/base/json-text.ts';
import { type Yaml, YamlError } from '../core/base/ports.ts';

export const YAML_LIMITS = {
  /** Characters; a request body has at most as many bytes. */
  text: 1_048_576,
  /** Line ends and characters that can begin a node: JSON has three for two nodes, and four on lines of their own. */
  indicators: 120_000,
  /** Keys and values of all documents, with those that aliases repeat. One apply is 500 resources of some 60. */
  nodes: 60_000,
  /** Levels of nesting; no resource has more than a dozen. */
  depth: 40,
  /** Keys of one mapping, as in JSON. */
  keysOfMapping: JSON_LIMITS.keysOfObject,
  /** Anchors of all documents: one in each of as many documents as one apply takes. */
  anchors: 2_000,
  /** Aliases of one document; an honest manifest uses a few. */
  aliases: 100,
} as const;

/** The one reader of YAML: the core schema of YAML 1.2, no other tags, no merge keys, no keys but plain ones. */
export function buildYaml(): Yaml {
  return { parse: parseYaml };
}

/** The documents of a text, empty ones left out. @throws YamlError */
export function parseYaml(text: string): unknown[] {
  if (text.length > YAML_LIMITS.text) throw new YamlError(`The text is longer than ${YAML_LIMITS.text} characters.`);
  if (hasTooManyIndicators(text)) throw tooManyNodes();
  const documents = load(text);
  refuseExcess(documents);
  return documents.filter((document) => document !== null);
}

/** Every node but the first costs one of these characters, so the parser makes a few nodes for each. No text has NUL. */
const INDICATORS = new Set([...'\0\n\r[{,:-?'].map((character) => character.charCodeAt(0)));

/** Before parsing, so that text made of nothing but nodes costs neither time nor memory. */
function hasTooManyIndicators(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if (INDICATORS.has(text.charCodeAt(index))) count += 1;
  return count > YAML_LIMITS.indicators;
}

function load(text: string): unknown[] {
  try {
    const events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
    requireBounded(events);
    return constructFromEvents(events, { source: text, maxAliases: YAML_LIMITS.aliases });
  } catch (error) {
    if (error instanceof YamlError) throw error;
    if (!(error instanceof YAMLException)) throw new YamlError(String(error));
    const { reason, mark } = error;
    throw new YamlError(mark ? `${reason} (line ${mark.line + 1}, column ${mark.column + 1})` : reason);
  }
}

/** Before values are made of them. @throws YamlError */
function requireBounded(events: readonly Event[]): void {
  // The open collections, innermost last; a mapping has two children for each key.
  const open: { readonly most: number; children: number }[] = [];
  let nodes = 0;
  let anchors = 0;
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    nodes += 1;
    if (nodes > YAML_LIMITS.nodes) throw tooManyNodes();
    const parent = open.at(-1);
    if (parent && ++parent.children > parent.most)
      throw new YamlError(`A mapping holds more than ${YAML_LIMITS.keysOfMapping} keys: send it in parts.`);
    if (event.type === EVENT_ID.ALIAS) continue;
    if (event.type !== EVENT_ID.DOCUMENT && event.anchorStart >= 0 && ++anchors > YAML_LIMITS.anchors)
      throw new YamlError(`The text holds more than ${YAML_LIMITS.anchors} anchors: repeat what they stand for.`);
    if (event.type === EVENT_ID.SCALAR) continue;
    open.push({ most: event.type === EVENT_ID.MAPPING ? YAML_LIMITS.keysOfMapping * 2 : Infinity, children: 0 });
  }
}

/** An alias stands for all that it repeats: counted is what a reader of the values meets. */
function refuseExcess(documents: readonly unknown[]): void {
  const pending = documents.map((value) => ({ value, depth: 0 }));
  let nodes = pending.length;
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= YAML_LIMITS.depth) throw new YamlError(`The text is nested deeper than ${YAML_LIMITS.depth} levels.`);
    const inner = Object.values(value);
    nodes += Array.isArray(value) ? inner.length : inner.length * 2;
    if (nodes > YAML_LIMITS.nodes) throw tooManyNodes();
    for (const each of inner) pending.push({ value: each, depth: depth + 1 });
  }
}

function tooManyNodes(): YamlError {
  return new YamlError(`The text holds more than ${YAML_LIMITS.nodes} keys and values: send it in parts.`);
}
