const YAML_TYPES: ReadonlySet<string> = new Set(['application/yaml', 'application/x-yaml', 'text/yaml']);
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*']);
/** More than clients name; what is beyond is not looked at. */
const MAX_TYPES = 20;

/** True if an `Accept` header asks for YAML rather than JSON (RFC 9110, 12.5.1); of equals the first one counts. */
export function prefersYaml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('yaml')) return false;
  const wanted = accept
    .toLowerCase()
    .split(',', MAX_TYPES)
    .map(parseType)
    .filter(({ type, quality }) => quality > 0 && (YAML_TYPES.has(type) || JSON_TYPES.has(type)))
    .toSorted((a, b) => b.quality - a.quality);
  return YAML_TYPES.has(wanted[0]?.type ?? '');
}

/** True if an `Accept` header asks for events and for nothing else, as event readers do. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && parseType(accept.toLowerCase()).type === 'text/event-stream';
}

/**
 * Returns true if an `Accept` header takes a media type: the most specific range that matches it decides, `q=0` refuses it, and
 * without a header every type is taken (RFC 9110, 12.5.1).
 */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const ranges = accept.toLowerCase().split(',', MAX_TYPES).map(parseType);
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const wanted of [type, family, '*/*']) {
    const range = ranges.find((each) => each.type === wanted);
    if (range) return range.quality > 0;
  }
  return false;
}

function parseType(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) || 0 };
}
