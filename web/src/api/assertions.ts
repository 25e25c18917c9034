import { allPages, whole } from './all-pages.ts';
import { api } from './client.ts';
import type { Assertion } from './types.ts';
import { workspaceId } from './workspace.ts';

/** All assertions of the workspace that is shown. */
export async function readAssertions(): Promise<readonly Assertion[]> {
  workspaceId.value;
  const items = await allPages((cursor) =>
    api.GET('/api/v1/assertions', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
  );
  return whole(items);
}
