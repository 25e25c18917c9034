import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Policy } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { goAfter, write } from '../../api/write.ts';
import { EffectView } from '../../effect/effect-view.tsx';
import { linkTo } from '../../route/route.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

/** Deletes a policy once its name is typed; what that opens and closes is shown before. */
export function DeletePolicy({ policy: { id, name, revision } }: { policy: Policy }) {
  const isAsked = useSignal(false);
  return (
    <div class="row">
      <button type="button" class="danger" onClick={() => (isAsked.value = true)}>
        Delete {name}
      </button>
      {isAsked.value && (
        <Confirm
          title={`Delete ${name}?`}
          act="Delete"
          name={name}
          run={async () => {
            const call = api.DELETE('/api/v1/policies/{id}', { params: { path: { id } }, body: { revision } });
            goAfter(await write(call, `${name} is deleted.`), linkTo('policies'));
          }}
          close={() => (isAsked.value = false)}
        >
          <p>Connections that only this policy allows or denies change at once.</p>
          {may('intents:plan') && <DeletionEffect name={name} />}
        </Confirm>
      )}
    </div>
  );
}

/** Where it cannot be computed (in Community), the sentence above has to do. */
function DeletionEffect({ name }: { name: string }) {
  const loaded = useLoaded(
    (signal) => {
      const changes = [{ action: 'delete', resource: 'MeshPolicy', name } as const];
      const body = { intent: `delete policy ${name}`, dry_run: true, changes };
      return answer(api.POST('/api/v1/ai/intent/plan', { body, signal }));
    },
    { live: false },
  );
  return <ReadResult of={loaded.value}>{(plan) => 'effect' in plan && <EffectView effect={plan.effect} />}</ReadResult>;
}
