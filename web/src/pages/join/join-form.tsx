import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { labelsOf } from '../../ui/labels.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { GrantFields, IdentityFields } from './workload-fields.tsx';
import { ANYBODY, KUBERNETES, noEntries, workloadRequest } from './workload-request.ts';

export type JoinToken = components['schemas']['GenerateJoinTokenResponse'];

const LIVES = Object.entries({
  '1h': '1 hour',
  '8h': '8 hours',
  '24h': '1 day',
  '168h': '7 days',
  '2160h': '90 days',
  '8760h': '365 days',
});
const PLACES = Object.entries({
  [ANYBODY]: 'Whoever has it',
  github: 'Jobs of GitHub Actions',
  gitlab: 'Jobs of GitLab CI',
  [KUBERNETES]: 'Pods of Kubernetes',
  oidc: 'Workloads with tokens of another issuer',
});
/** One use and one hour for a secret; a rule is none, and outlives many workloads. */
const USUAL = { secret: { uses: '1', life: '1h' }, rule: { uses: '10000', life: '8760h' } };
const DEFAULT_NETWORK = 'default';
const MOST_NETWORKS = 200;

export function JoinForm({ made }: { made: (token: JoinToken) => void }) {
  const { secret } = USUAL;
  const fields = {
    name: useSignal('device'),
    uses: useSignal(secret.uses),
    life: useSignal(secret.life),
    labels: useSignal(''),
  };
  const network = useSignal(DEFAULT_NETWORK);
  const workload = useMemo(noEntries, []);
  const waitsIn = useSignal<string | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const isPast = route.value.query.has('at');
  const isRule = workload.place.value !== ANYBODY;
  useSignalEffect(() => {
    const place = workload.place.value;
    const { uses, life } = place === ANYBODY ? USUAL.secret : USUAL.rule;
    fields.uses.value = uses;
    fields.life.value = life;
    workload.way.value = place === KUBERNETES ? 'tokenReview' : 'discovery';
  });
  const submit = (event: Event) => {
    event.preventDefault();
    waitsIn.value = undefined;
    return act(async () => {
      const body = {
        name: fields.name.value,
        expiry: fields.life.value,
        usageLimit: Number(fields.uses.value),
        labels: labelsOf(fields.labels.value),
        ...workloadRequest(workload),
        ...(network.value !== DEFAULT_NETWORK && { network: network.value }),
      };
      const written = await write(
        api.POST('/api/v1/token/generate', { body }),
        `The join token ${body.name} is created.`,
      );
      if ('workflow_id' in written) waitsIn.value = written.workflow_id;
      else made(written);
    });
  };
  return (
    <Form problem={problem} class="panel stack" onSubmit={submit}>
      <p class="dim">
        Create a join token, then follow the steps that appear, on the device.{' '}
        {isRule
          ? 'For workloads it is a rule: they join by OIDC tokens of their own, until it is used up, ends or is revoked.'
          : 'Whoever has the token can join until it is used up, ends or is revoked.'}
      </p>
      <div class="join-form">
        <SelectField label="Who may use it" value={workload.place} options={PLACES} />
        {isRule && <IdentityFields of={workload} />}
      </div>
      <div class="join-form">
        <TextField
          label="Name of the token"
          fields={['name']}
          hint="For your own list, such as laptops or build-hosts."
          value={fields.name}
          required
          autocomplete="off"
        />
        <SelectField label="Expires after" fields={['expiry']} value={fields.life} options={LIVES} />
        <TextField
          label="Maximum uses"
          fields={['usageLimit']}
          type="number"
          min={1}
          max={10_000}
          value={fields.uses}
          required
        />
        <TextField
          label="Labels of the devices"
          fields={['labels']}
          hint="As key=value, with spaces between. Policies decide by them, so they may need approval."
          value={fields.labels}
          autocomplete="off"
        />
        <NetworkField value={network} />
        {isRule && <GrantFields of={workload} />}
      </div>
      <ProblemNotice problem={problem.value} />
      {waitsIn.value && (
        <p class="notice warn" role="status">
          A second person has to approve this token first, because it gives labels, a preset or another network, or
          needs no approval of its devices. Once approved, make it again with the same entries: the token is shown then.{' '}
          <a href={linkTo('review', [waitsIn.value])}>Open it in Review</a>
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || isPast}>
          Create join token
        </button>
      </div>
    </Form>
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
          <SelectField label="Network" value={value} options={items.map(({ name }) => [name, name])} />
        )
      }
    </ReadResult>
  );
}
