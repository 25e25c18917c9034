import type { AnyOperation } from '../base/operation.ts';
import type { Services } from '../workflow/services.ts';
import { type CallRequest, type Gate, invoke } from './invoke.ts';

type Page = Readonly<Record<string, unknown>>;

/** The pages of an answer, each asked for when the one before has been taken, so that none waits in memory. @throws MeshError */
export async function* pagesOf(
  operation: AnyOperation<Services>,
  { takesJsonText: _, ...request }: CallRequest,
  gate: Gate<Services>,
): AsyncGenerator<Page> {
  for (let { raw } = request; ; ) {
    const page = (await invoke(operation, { ...request, raw }, gate)) as Page;
    yield page;
    if (page['next_cursor'] === undefined) return;
    raw = { ...raw, cursor: page['next_cursor'] };
  }
}

/**
 * Pages as the JSON text of one object, piece by piece. `{id: 1, a: [1]}`, `{id: 1, a: [2], b: {}}` is
 * `{"id":1,"a":[1` and `,2],"b":{}}`: a list or map goes on where the page before ended, the rest is of the first page.
 */
export async function* mergedText(pages: AsyncIterable<Page>): AsyncGenerator<string> {
  let open: { readonly name: string; readonly end: string; isEmpty: boolean } | undefined;
  let separator = '{';
  let isFirst = true;
  for await (const { next_cursor: _, ...page } of pages) {
    let text = '';
    const begin = (name: string) => {
      text += `${open?.end ?? ''}${separator}${JSON.stringify(name)}:`;
      separator = ',';
      open = undefined;
    };
    for (const [name, value] of Object.entries(page)) {
      const json = JSON.stringify(value) as string | undefined;
      if (json === undefined) continue;
      if (typeof value !== 'object' || value === null) {
        if (!isFirst) continue;
        begin(name);
        text += json;
        continue;
      }
      if (open?.name !== name) {
        begin(name);
        text += json[0];
        open = { name, end: json.at(-1) ?? '', isEmpty: true };
      }
      const inner = json.slice(1, -1);
      if (inner === '') continue;
      text += open.isEmpty ? inner : `,${inner}`;
      open.isEmpty = false;
    }
    isFirst = false;
    yield text;
  }
  yield `${open?.end ?? ''}${separator === '{' ? '{}' : '}'}`;
}
