import { allPages, MOST_RECORDS, whole } from '../../api/all-pages.ts';
import { answer, api } from '../../api/client.ts';
import type { Finding, Policy } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';

const PAGE = 200;

/** All policies, of now or of an instant. */
export async function readPolicies(at: string | null, signal: AbortSignal): Promise<readonly Policy[]> {
  const items = await allPages((cursor) => {
    const query = { limit: PAGE, ...(cursor && { cursor }), ...(at && { at }) };
    return api.GET('/api/v1/policies', { params: { query }, signal });
  });
  return whole(items);
}

export interface Findings {
  readonly items: readonly Finding[];
  /** False where there is too much to compare rules with each other. */
  readonly isWhole: boolean;
}

/** What is allowed and probably not meant about the policies; it takes longer than to list them. */
export async function readFindings(at: string | null, signal: AbortSignal): Promise<Findings> {
  const path = { workspaceId: workspaceId.value ?? '' };
  const items: Finding[] = [];
  let isWhole = true;
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    if (at) {
      const params = { query: { ...query, lint: true, at } };
      const page = await answer(api.GET('/api/v1/policies', { params, signal }));
      items.push(...(page.findings ?? []));
      cursor = page.next_cursor;
    } else {
      const params = { path, query };
      const page = await answer(api.GET('/api/v1/workspaces/{workspaceId}/policy-lint', { params, signal }));
      items.push(...page.items);
      isWhole &&= page.rules_compared;
      cursor = page.next_cursor;
    }
  } while (cursor !== undefined && items.length < MOST_RECORDS);
  return { items, isWhole };
}
