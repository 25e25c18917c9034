import { parseSync, Visitor } from 'oxc-parser';

export interface Expression {
  readonly pattern: string;
  readonly flags: string;
  /** `core/base/duration.ts:2`. */
  readonly at: string;
}

export interface Expressions {
  readonly expressions: readonly Expression[];
  /** Code that makes an expression of text which is not written there. */
  readonly built: readonly { readonly at: string; readonly code: string }[];
}

/** Methods of a string that make an expression of a text that they are given. */
const IMPLICIT: ReadonlySet<string> = new Set(['match', 'matchAll', 'search']);

/** The regular expressions in one file of TypeScript or JavaScript. */
export function expressionsIn(file: string, source: string): Expressions {
  const expressions: Expression[] = [];
  const built: { at: string; code: string }[] = [];
  const at = (offset: number) => `${file}:${source.slice(0, offset).split('\n').length}`;

  function ofArguments({ start, end, arguments: given }: Call): void {
    const [pattern, flags] = given.map(textOf);
    if (given[0]?.type === 'Literal' && 'regex' in given[0]) return;
    if (pattern === undefined || (given.length > 1 && flags === undefined)) {
      built.push({ at: at(start), code: source.slice(start, end) });
    } else expressions.push({ pattern, flags: flags ?? '', at: at(start) });
  }

  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} is no code that can be read: ${errors[0]?.message}`);
  new Visitor({
    Literal(node) {
      if ('regex' in node) expressions.push({ ...node.regex, at: at(node.start) });
    },
    NewExpression(node) {
      if (nameOf(node.callee) === 'RegExp') ofArguments(node);
    },
    CallExpression(node) {
      const name = nameOf(node.callee);
      if (name === 'RegExp') ofArguments(node);
      const [first] = node.arguments;
      const isText = first !== undefined && (textOf(first) !== undefined || first.type === 'TemplateLiteral');
      if (node.callee.type === 'MemberExpression' && IMPLICIT.has(name ?? '') && isText) ofArguments(node);
    },
  }).visit(program);
  return { expressions, built };
}

type Visited = NonNullable<ConstructorParameters<typeof Visitor>[0]>;
type Call =
  | Parameters<NonNullable<Visited['CallExpression']>>[0]
  | Parameters<NonNullable<Visited['NewExpression']>>[0];
type Argument = Call['arguments'][number];

function textOf(node: Argument): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node.type === 'TemplateLiteral' && node.expressions.length === 0
    ? (node.quasis[0]?.value.cooked ?? undefined)
    : undefined;
}

/** `RegExp` of `RegExp` and of `globalThis.RegExp`. */
function nameOf(callee: Call['callee']): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : undefined;
}
