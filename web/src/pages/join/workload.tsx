import { type Signal, useSignal } from '@preact/signals';
import type { components } from '../../api/schema.d.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { labelsOf } from '../../ui/labels.ts';

const ANYBODY = 'anybody';
const USERS = Object.entries({
  [ANYBODY]: 'Whoever has it',
  github: 'Jobs of GitHub Actions',
  gitlab: 'Jobs of GitLab CI',
  oidc: 'Workloads with tokens of another issuer',
});
const ISSUERS: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
};
const CLAIMS: Readonly<Record<string, string>> = {
  github: 'repository_id=74 ref=refs/heads/main',
  gitlab: 'project_id=74 ref=main',
  oidc: 'sub=system:serviceaccount:ci:deploy',
};

interface WorkloadFieldsState {
  readonly users: Signal<string>;
  readonly issuer: Signal<string>;
  readonly claims: Signal<string>;
}

/** Who may use a join token: whoever has it, or workloads by OIDC tokens of their own. */
export function useWorkloadFields(): WorkloadFieldsState {
  return { users: useSignal(ANYBODY), issuer: useSignal(''), claims: useSignal('') };
}

/** Returns the fields of the request; none for a token that whoever has it may use. */
export function identityOf({ users, issuer, claims }: WorkloadFieldsState) {
  if (users.value === ANYBODY) return {};
  const identity = { issuer: ISSUERS[users.value] ?? issuer.value.trim(), claims: labelsOf(claims.value) };
  return { identity };
}

export function WorkloadFields({ of: { users, issuer, claims } }: { of: WorkloadFieldsState }) {
  return (
    <>
      <SelectField label="Who may use it" value={users} options={USERS} />
      {users.value === 'oidc' && (
        <TextField label="Issuer" hint="As its tokens have it in iss." type="url" value={issuer} required />
      )}
      {users.value !== ANYBODY && (
        <TextField
          label="Claims that have to match"
          fields={['claims']}
          hint={`As claim=pattern, with spaces between, such as ${CLAIMS[users.value]}. * stands for any characters but / and :.`}
          value={claims}
          required
          autocomplete="off"
        />
      )}
    </>
  );
}

/** What a workload runs to join, with a token that is no secret. */
export function WorkloadSteps({
  token,
  identity,
}: Pick<components['schemas']['GenerateJoinTokenResponse'], 'token' | 'identity'>) {
  const place = Object.keys(ISSUERS).find((name) => ISSUERS[name] === identity?.issuer);
  const how = place === undefined ? '--identity-file FILE' : `--identity ${place}`;
  const commands = [`mesh init --token ${token} ${how}`, 'mesh up --userspace --daemon'];
  return (
    <section class="stack-small">
      <p>
        Only workloads of {identity?.issuer} whose tokens match join with it: it is no secret, and may stand in the job.
      </p>
      <CodeBlock label="Run in the job" text={commands.join('\n')} />
    </section>
  );
}
