import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type DocsPage, docsAddress, docsEntries, docsPages, htmlOf } from '../../web/build-docs.ts';
import { PAGE_NAMES } from '../../web/src/pages/names.ts';

const pages = await docsPages();
const headings = new Map(pages.map(({ file, body }) => [docsAddress(file), new Set(valuesOf(body, 'id'))]));

function valuesOf(html: string, attribute: 'id' | 'href' | 'src'): string[] {
  return [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
}

/** Tells whether an address within the documentation leads to a picture or a page and, with a hash, to a heading of it. */
function leadsThere(address: string, from = ''): boolean {
  if (address.endsWith('.webp')) return existsSync(address.slice(1));
  const [page, anchor] = address.split('#');
  const ids = headings.get(page || from);
  return ids !== undefined && (anchor === undefined || ids.has(anchor));
}

const brokenOf = ({ file, body }: DocsPage) =>
  [...valuesOf(body, 'href'), ...valuesOf(body, 'src')]
    .filter((href) => !/^https?:/.test(href) && !leadsThere(href, docsAddress(file)))
    .map((href) => `${file}: ${href}`);

describe('the documentation as pages', () => {
  test('is there for each page of the dashboard, by a heading that exists', () => {
    const named = Object.values(PAGE_NAMES).map(({ docs }) => docs);
    expect(named.filter((docs) => !leadsThere(docs) || !docs.includes('#'))).toEqual([]);
  });

  test('leads from each link to a page and a heading, or out of the control plane', () => {
    expect(pages.length).toBeGreaterThan(50);
    expect(pages.flatMap(brokenOf)).toEqual([]);
  });

  test('has a title for each page', () => {
    expect(pages.filter(({ title, file }) => title === file || title === '')).toEqual([]);
  });

  test('has markup in a text as text, and a link out of docs as its words', () => {
    const text = 'A <script>alert(1)</script> of [the code](../core/a.ts) and [words](b.md#c).';
    expect(htmlOf(text, 'docs/a.md', new Map([['docs/b.md', 'Page B']]))).toBe(
      '<p>A &lt;script&gt;alert(1)&lt;/script&gt; of the code and <a href="/docs/b#c">words</a>.</p>\n',
    );
  });

  test('shows the title of a page where a link has the name of its file, and no comment', () => {
    const text = '<!-- Made -->\n\nSee [b.md](docs/b.md) and [the b](docs/b.md).';
    expect(htmlOf(text, 'README.md', new Map([['docs/b.md', 'Page <B>']]))).toBe(
      '<p>See <a href="/docs/b">Page &lt;B&gt;</a> and <a href="/docs/b">the b</a>.</p>\n',
    );
  });

  test.each(['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md', 'VERSIONING.md', 'CONTRIBUTING.md'])(
    'leads from its index to %s, below /docs',
    (file) => {
      const index = pages.find((page) => page.file === 'docs/README.md');
      expect(valuesOf(index?.body ?? '', 'href')).toContain(docsAddress(file));
    },
  );

  test('names no page by its file in the index', () => {
    const index = pages.find(({ file }) => file === 'docs/README.md');
    expect(index?.body).not.toMatch(/>[\w-]+\.md</);
  });

  test('is found by headings and first words that exist', async () => {
    const entries = await docsEntries();
    expect(entries.filter(({ address }) => !leadsThere(address))).toEqual([]);
    expect(entries.filter(({ title }) => title.startsWith('Backups')).length).toBeGreaterThan(0);
    expect(entries.find(({ address }) => address === '/docs/oauth')?.words).toContain('needs no token pasted');
  });
});
