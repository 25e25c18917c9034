/** Limits of strict structured outputs, as the makers of the format publish them. */
const LIMITS = { properties: 5_000, depth: 10, enums: 1_000, names: 120_000, smallEnum: 250, largeEnumNames: 15_000 };
const KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'description',
]);

type Node = Readonly<Record<string, unknown>>;

/** Returns the faults for which a server with strict structured outputs would refuse a schema. */
export function strictFlaws(root: unknown): string[] {
  const flaws: string[] = [];
  const size = { properties: 0, enums: 0, names: 0 };
  const definitions = (isNode(root) && isNode(root['$defs']) ? root['$defs'] : {}) as Node;
  const count = (names: readonly unknown[]) => {
    for (const name of names) size.names += String(name).length;
  };

  function walk(node: unknown, path: string): void {
    if (!isNode(node)) {
      flaws.push(`${path}: is no schema`);
      return;
    }
    for (const key of Object.keys(node)) if (!KEYWORDS.has(key)) flaws.push(`${path}: ${key} is not permitted`);
    const { $ref, type, properties, required, additionalProperties, items, anyOf, $defs } = node;
    if ($ref !== undefined) {
      if (Object.keys(node).length > 1) flaws.push(`${path}: $ref cannot have keywords beside it`);
      if (!(String($ref).slice('#/$defs/'.length) in definitions)) flaws.push(`${path}: $ref leads nowhere`);
      return;
    }
    if (type === undefined && anyOf === undefined && node['enum'] === undefined) flaws.push(`${path}: has no type`);
    if (type === 'object') {
      const names = Object.keys(isNode(properties) ? properties : {});
      size.properties += names.length;
      count(names);
      if (additionalProperties !== false) flaws.push(`${path}: additionalProperties must be false`);
      if (JSON.stringify(required) !== JSON.stringify(names)) flaws.push(`${path}: required must name every property`);
    }
    if (type === 'array' && items === undefined) flaws.push(`${path}: items are missing`);
    if (node['const'] !== undefined) count([node['const']]);
    if (node['enum'] !== undefined) enumerated(node['enum'], path);
    for (const [name, child] of Object.entries(isNode(properties) ? properties : {})) walk(child, `${path}/${name}`);
    for (const [name, child] of Object.entries(isNode($defs) ? $defs : {})) {
      count([name]);
      walk(child, `$defs/${name}`);
    }
    if (items !== undefined) walk(items, `${path}/items`);
    if (anyOf !== undefined)
      for (const [at, child] of (anyOf as unknown[]).entries()) walk(child, `${path}/anyOf/${at}`);
  }

  function enumerated(values: unknown, path: string): void {
    if (!Array.isArray(values) || values.length === 0) {
      flaws.push(`${path}: enum is empty`);
      return;
    }
    if (new Set(values).size < values.length) flaws.push(`${path}: enum has a member twice`);
    size.enums += values.length;
    count(values);
    const length = values.reduce<number>((sum, value) => sum + String(value).length, 0);
    if (values.length > LIMITS.smallEnum && length > LIMITS.largeEnumNames) flaws.push(`${path}: enum is too long`);
  }

  function depthOf(node: unknown, seen: readonly unknown[]): number {
    if (!isNode(node) || seen.includes(node)) return 0;
    const next = [...seen, node];
    const { $ref, properties, items, anyOf } = node;
    if ($ref !== undefined) return depthOf(definitions[String($ref).slice('#/$defs/'.length)], next);
    const children = [...Object.values(isNode(properties) ? properties : {}), items, ...((anyOf as unknown[]) ?? [])];
    return (node['type'] === 'object' ? 1 : 0) + Math.max(0, ...children.map((child) => depthOf(child, next)));
  }

  walk(root, '');
  if (!isNode(root) || root['type'] !== 'object') flaws.push('the root must be an object');
  const depth = depthOf(root, []);
  if (depth > LIMITS.depth) flaws.push(`${depth} levels of nesting exceed ${LIMITS.depth}`);
  for (const key of ['properties', 'enums', 'names'] as const) {
    if (size[key] > LIMITS[key]) flaws.push(`${size[key]} ${key} exceed ${LIMITS[key]}`);
  }
  return flaws;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
