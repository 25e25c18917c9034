import { useComputed, useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import type { Network } from '../../api/types.ts';
import { goAfter, write } from '../../api/write.ts';
import { PreviewView, usePreview } from '../../effect/preview.tsx';
import { linkTo } from '../../route/route.ts';
import { networks as words } from '../../texts/networks.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

export function NewNetwork({ close }: { close: () => void }) {
  return (
    <section class="panel stack" aria-label={words.createTitle}>
      <div class="row">
        <h2>{words.createTitle}</h2>
        <button type="button" class="link push" onClick={close}>
          {texts.common.close}
        </button>
      </div>
      <NetworkForm stored={undefined} />
    </section>
  );
}

export function EditNetwork({ network }: { network: Network }) {
  return (
    <details>
      <summary>{words.edit}</summary>
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
  const { result } = preview.value;
  const label = (result?.waits_for.length ?? 0) > 0 ? words.send : words.save;
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
      goAfter(await write(call, words.saved(own)), linkTo('networks', [own]));
    });
  };
  return (
    <form class="stack" onSubmit={save}>
      {!stored && <TextField label={words.name} hint={words.nameHint} value={name} required autocomplete="off" />}
      <TextField label={words.addresses} hint={words.cidrHint} value={cidr} required autocomplete="off" />
      <SelectField label={words.byDefault} value={action} options={Object.entries(words.defaults)} />
      <TextField label={words.mtu} hint={words.mtuHint} value={mtu} required autocomplete="off" />
      {isChanged.value && <PreviewView preview={preview.value} />}
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || !result?.would_change}>
          <span class="break">{label(name.value.trim())}</span>
        </button>
      </div>
    </form>
  );
}

const ordered = ({ cidr, mtu, defaultAction }: Network['spec']) => ({ cidr, mtu, defaultAction });

/** JSON is YAML, too. */
function manifestOf(name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshNetwork', metadata: { name }, spec });
}
