import { useComputed, useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import type { Network } from '../../api/types.ts';
import { goAfter, write } from '../../api/write.ts';
import { PreviewView, usePreview } from '../../effect/preview.tsx';
import { linkTo } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

export const DEFAULT_ACTIONS = {
  ALLOW: 'ALLOW: peers reach each other',
  DENY: 'DENY: peers do not reach each other',
} as const;

export function NewNetwork({ close }: { close: () => void }) {
  return (
    <section class="panel stack" aria-label="New network">
      <div class="row">
        <h2>New network</h2>
        <button type="button" class="link push" onClick={close}>
          Close
        </button>
      </div>
      <NetworkForm stored={undefined} />
    </section>
  );
}

export function EditNetwork({ network }: { network: Network }) {
  return (
    <details>
      <summary>Edit network</summary>
      <NetworkForm stored={network} />
    </details>
  );
}

const FRESH = { cidr: '', mtu: 1280, defaultAction: 'DENY' } as const;

/** The settings of a network, with what saving them would open and close. */
function NetworkForm({ stored }: { stored: Network | undefined }) {
  const before = stored?.spec ?? FRESH;
  const name = useSignal(stored?.name ?? '');
  const cidr = useSignal(before.cidr);
  const mtu = useSignal(String(before.mtu));
  const action = useSignal<string>(before.defaultAction);
  const spec = useComputed(() => ({
    cidr: cidr.value.trim(),
    mtu: Number(mtu.value),
    defaultAction: action.value === 'ALLOW' ? ('ALLOW' as const) : ('DENY' as const),
  }));
  const isFilled = useComputed(() => name.value.trim() !== '' && cidr.value.trim() !== '');
  const isChanged = useComputed(
    () => isFilled.value && (!stored || JSON.stringify(spec.value) !== JSON.stringify(ordered(before))),
  );
  const manifest = useComputed(() => manifestOf(name.value.trim(), spec.value));
  const preview = usePreview(manifest, isChanged);
  const { isActing, problem, act } = useAct();
  const shownProblem = useComputed(() => problem.value ?? preview.value.problem);
  const { result } = preview.value;
  const isForApproval = (result?.waits_for.length ?? 0) > 0;
  const save = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const own = name.value.trim();
      const call = stored
        ? api.PUT('/api/v1/networks/{id}', {
            params: { path: { id: stored.id } },
            body: { spec: spec.value, revision: stored.revision },
          })
        : api.POST('/api/v1/networks', { body: { name: own, spec: spec.value } });
      goAfter(await write(call, `${own} is saved.`), linkTo('networks', [own]));
    });
  };
  return (
    <Form problem={shownProblem} class="stack" onSubmit={save}>
      {!stored && (
        <TextField
          label="Name"
          hint="Letters, digits, -, _ or .; the name cannot be changed."
          value={name}
          required
          autocomplete="off"
        />
      )}
      <TextField
        label="Addresses"
        fields={['cidr']}
        hint="An IPv4 block from /10 to /30, such as 10.97.0.0/24, that overlaps no other network."
        value={cidr}
        required
        autocomplete="off"
      />
      <SelectField
        label="Where no policy applies"
        fields={['defaultAction']}
        value={action}
        options={Object.entries(DEFAULT_ACTIONS)}
      />
      <TextField label="MTU" hint="Bytes, 1280 to 8920." value={mtu} required autocomplete="off" />
      {isChanged.value && <PreviewView preview={preview.value} />}
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || !result?.would_change}>
          <span class="break">
            {isForApproval ? `Send ${name.value.trim()} for approval` : `Save ${name.value.trim()}`}
          </span>
        </button>
      </div>
    </Form>
  );
}

const ordered = ({ cidr, mtu, defaultAction }: Network['spec']) => ({ cidr, mtu, defaultAction });

/** JSON is YAML, too. */
function manifestOf(name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshNetwork', metadata: { name }, spec });
}
