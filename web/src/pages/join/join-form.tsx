import { type Signal, useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { join as words } from '../../texts/join.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { labelsOf } from '../../ui/labels.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

export type JoinToken = components['schemas']['GenerateJoinTokenResponse'];

const LIVES = Object.entries(words.lives);
const DEFAULT_NETWORK = 'default';
const MOST_NETWORKS = 200;

/** One use and one hour, unless somebody says more. */
export function JoinForm({ made }: { made: (token: JoinToken) => void }) {
  const fields = { name: useSignal('device'), uses: useSignal('1'), life: useSignal('1h'), labels: useSignal('') };
  const network = useSignal(DEFAULT_NETWORK);
  const waitsIn = useSignal<string | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const isPast = route.value.query.has('at');
  const submit = (event: Event) => {
    event.preventDefault();
    waitsIn.value = undefined;
    return act(async () => {
      const body = {
        name: fields.name.value,
        expiry: fields.life.value,
        usageLimit: Number(fields.uses.value),
        labels: labelsOf(fields.labels.value),
        ...(network.value !== DEFAULT_NETWORK && { network: network.value }),
      };
      const written = await write(api.POST('/api/v1/token/generate', { body }), words.isMade(body.name));
      if ('workflow_id' in written) waitsIn.value = written.workflow_id;
      else made(written);
    });
  };
  return (
    <form class="panel stack" onSubmit={submit}>
      <p class="dim">{words.why}</p>
      <div class="join-form">
        <TextField label={words.name} hint={words.nameHint} value={fields.name} required autocomplete="off" />
        <SelectField label={words.life} value={fields.life} options={LIVES} />
        <label class="field">
          {words.uses}
          <input
            type="number"
            min={1}
            max={1000}
            required
            value={fields.uses.value}
            onInput={({ currentTarget }) => {
              fields.uses.value = currentTarget.value;
            }}
          />
        </label>
        <TextField label={words.labels} hint={words.labelsHint} value={fields.labels} autocomplete="off" />
        <NetworkField value={network} />
      </div>
      <ProblemNotice problem={problem.value} />
      {waitsIn.value && (
        <p class="notice warn" role="status">
          {words.waits} <a href={linkTo('review', [waitsIn.value])}>{words.toReview}</a>
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || isPast}>
          {words.make}
        </button>
      </div>
    </form>
  );
}

/** Asked only where there is a choice. */
function NetworkField({ value }: { value: Signal<string> }) {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/networks', { params: { query: { limit: MOST_NETWORKS } } }));
  });
  return (
    <ReadResult of={loaded.value} loading="">
      {({ items }) =>
        items.length > 1 && (
          <SelectField label={words.network} value={value} options={items.map(({ name }) => [name, name])} />
        )
      }
    </ReadResult>
  );
}
