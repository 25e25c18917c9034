import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Marked, Renderer, type Tokens } from 'marked';
import { getHeadingList, gfmHeadingId, type HeadingData } from 'marked-gfm-heading-id';

/** The pages of the documentation, for who has no checkout at hand: the control plane serves them at `/docs`. */
const ROOT = path.resolve(import.meta.dirname, '..');
/** Pages of the repository itself. */
const OF_ROOT = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md', 'VERSIONING.md', 'CONTRIBUTING.md'];
const PICTURES = ['docs/screens/*', 'docs/*.webp'];
const CONTENT = '<!--content-->';
const TITLE = 'Documentation of Mesh';
/** Characters of a page's beginning that it is found by. */
const BEGINNING = 200;

export interface DocsPage {
  /** Below the root of the repository, such as `docs/decisions/README.md`. */
  readonly file: string;
  readonly title: string;
  readonly body: string;
  readonly headings: readonly HeadingData[];
  /** Its first words, as they are written. */
  readonly beginning: string;
}

/** Returns every page of `docs/` and those of the root, as HTML. */
export async function docsPages(): Promise<readonly DocsPage[]> {
  const files = [...OF_ROOT, ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];
  const texts = await Promise.all(files.map((file) => readFile(path.join(ROOT, file), 'utf8')));
  const titles = files.map((file, place) => [file, titleOf(texts[place] ?? '', file)] as const);
  const known = new Map([...titles, ...pictures().map((file) => [file, file] as const)]);
  return titles.map(([file, title], place) => {
    const text = texts[place] ?? '';
    const body = htmlOf(text, file, known);
    return { file, title, body, headings: getHeadingList(), beginning: beginningOf(text) };
  });
}

function titleOf(text: string, file: string): string {
  const heading = text.split('\n').find((line) => line.startsWith('# ')) ?? `# ${file}`;
  return heading.slice(2).replaceAll('`', '');
}

function beginningOf(text: string): string {
  const paragraph = new Marked().lexer(text).find(({ type }) => type === 'paragraph');
  return (paragraph?.raw ?? '').replaceAll('\n', ' ').slice(0, BEGINNING);
}

function pictures(): readonly string[] {
  return globSync(PICTURES, { cwd: ROOT });
}

/** A page or a heading of one, as the dashboard finds it. */
export interface DocsEntry {
  readonly title: string;
  readonly address: string;
  /** Other words that it is found by. */
  readonly words?: string;
}

/** Returns the pages in no folder below `docs/`, each by its title, its name and its first words; then their headings. */
export async function docsEntries(): Promise<readonly DocsEntry[]> {
  const pages = (await docsPages()).filter(({ file }) => !path.posix.dirname(file).includes('/'));
  const whole = pages.map(({ file, title, beginning }) => {
    const address = docsAddress(file);
    return { title, address, words: `${path.posix.basename(address)} ${beginning}` };
  });
  return [...whole, ...pages.flatMap(headingsOf)];
}

/** The sections of a page; nobody looks for those of the changelog by name. */
function headingsOf({ file, title, headings }: DocsPage): readonly DocsEntry[] {
  if (file === 'CHANGELOG.md') return [];
  return headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ raw, id }) => ({ title: `${raw} · ${title}`, address: `${docsAddress(file)}#${id}` }));
}

/**
 * Returns the address of a page: `docs/policy.md` is at `/docs/policy`, the README of a folder at that of the folder, and a page
 * of the root in lower case, as `/docs/readme`.
 */
export function docsAddress(file: string): string {
  const { dir, base, name, ext } = path.posix.parse(file);
  if (ext !== '.md') return path.posix.join('/', file);
  if (dir === '') return path.posix.join('/docs', name.toLowerCase());
  return path.posix.join('/', dir, base === 'README.md' ? '' : name);
}

/** Writes the pages into a folder, in the frame of `docs.html` as it was built there. */
export async function buildDocs(folder: string): Promise<void> {
  const template = path.join(folder, 'docs.html');
  const frame = await readFile(template, 'utf8');
  await rm(template);
  const write = async (name: string, title: string, body: string) => {
    const file = path.join(folder, `${name}.html`);
    await mkdir(path.dirname(file), { recursive: true });
    const html = frame.replace(TITLE, () => `${escaped(title)} · Mesh`).replace(CONTENT, () => body);
    await writeFile(file, html);
  };
  for (const { file, title, body } of await docsPages()) await write(docsAddress(file), title, body);
  await write('/docs/404', 'No such page', NOT_FOUND);
  for (const file of pictures()) await cp(path.join(ROOT, file), path.join(folder, file));
}

const NOT_FOUND = `<h1>No such page</h1>
<p>The documentation of this version has no page at this address. See <a href="/docs">all pages</a>.</p>`;

/**
 * Returns a page of Markdown as HTML.
 *
 * @param file that it is of, below the root of the repository
 * @param known the files that it may lead to, each with its title
 */
export function htmlOf(text: string, file: string, known: ReadonlyMap<string, string>): string {
  const marked = new Marked().setOptions({ renderer: new PageRenderer(file, known) }).use(gfmHeadingId());
  return marked.parse(text, { async: false });
}

/** Leads from page to page of the documentation alone, and lets what is wide scroll by keys too. */
class PageRenderer extends Renderer {
  readonly #file: string;
  readonly #known: ReadonlyMap<string, string>;

  constructor(file: string, known: ReadonlyMap<string, string>) {
    super();
    this.#file = file;
    this.#known = known;
  }

  override link(token: Tokens.Link): string {
    const target = this.#targetOf(token.href);
    // A file of the repository, which is not served.
    if (target === undefined) return this.parser.parseInline(token.tokens);
    const { href, file = '' } = target;
    // The name of a file says little to who has no files.
    const title = path.posix.basename(file) === token.text ? this.#known.get(file) : undefined;
    const tokens = title === undefined ? token.tokens : [{ type: 'text', raw: title, text: title }];
    return super.link({ ...token, href, tokens });
  }

  override image(token: Tokens.Image): string {
    return super.image({ ...token, href: this.#targetOf(token.href)?.href ?? '' });
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" role="group" aria-label="Table" tabindex="0">${super.table(token)}</div>\n`;
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace('<pre>', '<pre tabindex="0">');
  }

  /** No page has markup of its own but comments: what looks like it is text. */
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.startsWith('<!--') ? '' : escaped(text);
  }

  #targetOf(href: string): { readonly href: string; readonly file?: string } | undefined {
    if (URL.canParse(href) || href.startsWith('#')) return { href };
    const [link = '', anchor] = href.split('#');
    const file = path.posix.join(path.posix.dirname(this.#file), link);
    if (!this.#known.has(file)) return undefined;
    const address = docsAddress(file);
    return { file, href: anchor === undefined ? address : `${address}#${anchor}` };
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
