import type { Caller } from '../../../core/base/caller.ts';
import { accountDraft } from '../../../core/identity/accounts.ts';
import { person } from './kit.ts';
import { buildWorkspaceKit } from './workspace-kit.ts';

const WHY = { actor: 'user:test', reason: 'test', requestId: 'r' };

/** The kit with accounts: callers who are them, members of the workspace. */
export async function buildReviewKit(options: Parameters<typeof buildWorkspaceKit>[0] = {}) {
  const kit = await buildWorkspaceKit(options);

  /** An account that is a member; asks as it. */
  async function member(name: string, role: 'admin' | 'auditor' | 'operator' | 'viewer') {
    const spec = { displayName: name, role: 'user', passwordHash: '', passwordState: 'own', disabled: false, epoch: 1 };
    const record = accountDraft(name, spec as Parameters<typeof accountDraft>[1]);
    await kit.services.store.commit('w_system', [{ op: 'create', record }], WHY);
    await kit.ask('set_member', { username: name, role });
    const caller: Caller = { ...person(role, kit.workspace, name), id: record.uid, person: record.uid };
    return {
      id: record.uid,
      caller,
      // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
      ask: (operation: string, raw: Record<string, unknown> = {}): Promise<any> =>
        kit.call(operation, raw, { as: caller, workspace: kit.workspace }),
    };
  }

  /** Reviews everything and finds it right. */
  async function reviewed(kind: 'access' | 'policies' | 'activity', ask = kit.ask): Promise<string> {
    const { id } = await ask('start_review', { kind });
    await ask('decide_review_items', { id, confirm_rest: true });
    await ask('finish_review', { id });
    return id;
  }

  return { ...kit, member, reviewed };
}

// biome-ignore lint/suspicious/noExplicitAny: as the kit answers.
export function itemNamed(review: any, name: string) {
  return review.items.find((item: { name: string }) => item.name === name);
}
