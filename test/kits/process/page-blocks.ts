import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The pages that tell people what to run. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'evals/README.md',
  ...globSync(['docs/*.md', 'examples/*/README.md'], { cwd: ROOT }).toSorted(),
];

export interface Block {
  readonly page: string;
  /** The one above it, of any level. */
  readonly heading: string;
  /** What follows the fence; empty where nothing does. */
  readonly language: string;
  readonly text: string;
  /** The block of language `text` that follows it: what the page says is shown then. */
  readonly shows: string;
}

/** What stands below each heading of a page, of any level, down to the next one. */
export function sectionsOf(page: string): { readonly heading: string; readonly text: string }[] {
  const [, ...sections] = readFileSync(path.join(ROOT, page), 'utf8').split(/^#+ /m);
  return sections.map((section) => {
    const end = section.indexOf('\n');
    return { heading: section.slice(0, end), text: section.slice(end + 1) };
  });
}

/** The cells of the first table of a text, below its head; of several tables the heads of the later ones too. */
export function rowsOf(text: string): string[][] {
  const [, ...lines] = text.match(/^\| .*\|$/gm) ?? [];
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

/** The names in the first column of the table whose first head this is, below a heading of a page. */
export function namesIn(page: string, heading: string, head: string): string[] {
  const text = sectionsOf(page).find((section) => section.heading === heading)?.text ?? '';
  const table = text.split('\n\n').find((part) => part.trimStart().startsWith(`| ${head} |`)) ?? '';
  const cells = [...table.matchAll(/^\| (`[^|]*`) \|/gm)];
  return cells.flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)/g)].map(([, name = '']) => name)).toSorted();
}

/** All fenced blocks of a page in their order. */
export function blocksOf(page: string): Block[] {
  const blocks: Omit<Block, 'shows'>[] = [];
  let heading = '';
  let open: { fence: string; language: string; lines: string[] } | undefined;
  for (const line of readFileSync(path.join(ROOT, page), 'utf8').split('\n')) {
    const [, fence, language = ''] = /^(`{3,})(\w*)$/.exec(line) ?? [];
    if (open && fence === open.fence) {
      blocks.push({ page, heading, language: open.language, text: open.lines.map((each) => `${each}\n`).join('') });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { fence, language, lines: [] };
    else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
  }
  return blocks.map((block, index) => {
    const next = blocks[index + 1];
    const follows = next?.language === 'text' && next.heading === block.heading;
    return { ...block, shows: follows ? next.text : '' };
  });
}

/** A block of commands by the name that tests know it by: page, heading and number below that heading. */
export interface CommandBlock extends Block {
  readonly name: string;
}

/** Every block of commands on every page. */
export const COMMANDS: readonly CommandBlock[] = PAGES.flatMap((page) => {
  const seen = new Map<string, number>();
  return blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .map((block) => {
      const number = (seen.get(block.heading) ?? 0) + 1;
      seen.set(block.heading, number);
      return { ...block, name: `${page}: ${block.heading} ${number}` };
    });
});

/** @throws Error where no page has it */
export function commandBlock(name: string): CommandBlock {
  const found = COMMANDS.find((block) => block.name === name);
  if (!found) throw new Error(`No page has the block "${name}".`);
  return found;
}

/** The commands of a block, one a line, without comments; a line that ends in `\` goes on. */
export function commandsOf(name: string): string[] {
  return commandBlock(name)
    .text.replaceAll(/ *\\\n */g, ' ')
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +#.*$/, ''));
}

/** A page without its blocks and spans of code, in which nothing is a link. */
export const proseOf = (page: string) =>
  readFileSync(path.join(ROOT, page), 'utf8')
    .replaceAll(/^(`{3,}).*?^\1$/gms, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));

/** The anchors of a page, as GitHub makes them of its headings. */
export function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-');
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
}
