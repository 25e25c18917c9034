import { effect } from '@preact/signals';
import { ANY_WORKSPACE, hrefOf, replaceAddress, route, WORKFLOWS } from '../route/route.ts';
import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import { me } from './session.ts';

/**
 * Gives an address that names no workspace one: the first, and of a link to a workflow (`#/workflows/<id>`) the one that
 * has it; a client is let in (`#/~/allow/<id>`) where the person may make agents. Never another workflow under an address that is not its own. One that names it by its id gets its slug.
 */
export function completeAddress(): () => void {
  return effect(() => {
    const { workspace, page, rest, query } = route.value;
    const all = me.value?.workspaces ?? [];
    const [first] = all;
    const [id] = rest;
    const byId = all.find(({ id: own }) => own === workspace);
    if (byId) return replaceAddress(hrefOf({ workspace: byId.slug, page, rest, query }));
    if (!first || (workspace !== '' && workspace !== ANY_WORKSPACE)) return;
    if (workspace === ANY_WORKSPACE) {
      const { slug } = all.find(({ scopes }) => scopes.includes('agents:write')) ?? first;
      return replaceAddress(hrefOf({ workspace: slug, page, rest, query }));
    }
    if (page !== WORKFLOWS || !id) return replaceAddress(hrefOf({ workspace: first.slug, page, rest, query }));
    void findWorkflow(id, all).then((slug) => {
      if (route.peek().rest[0] === id) replaceAddress(hrefOf({ workspace: slug, page: 'review', rest: [id] }));
    });
  });
}

type Workspaces = readonly { readonly id: string; readonly slug: string }[];

/** The first one where none has it, which tells that it is not there. */
async function findWorkflow(id: string, all: Workspaces): Promise<string> {
  for (const { id: workspace, slug } of all) {
    try {
      const params = { path: { id }, header: { 'X-Workspace-Id': workspace } };
      await answer(api.GET('/api/v1/workflows/{id}', { params }));
      return slug;
    } catch (error) {
      if (!(error instanceof Problem && [403, 404].includes(error.status))) break;
    }
  }
  return all[0]?.slug ?? '';
}
