import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { changed } from '../../../api/load.ts';
import { Problem } from '../../../api/problem.ts';
import type { components } from '../../../api/schema.d.ts';
import { SCOPE_WORDS } from '../../../api/scopes.ts';
import { may, workspace, workspaceId } from '../../../api/workspace.ts';
import { useAct } from '../../../ui/act.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';

const PRESETS = { default: 'read, plan and request changes', viewer: 'read only', own: 'chosen below' } as const;

type Scope = NonNullable<components['schemas']['CreateApiTokenRequest']['scopes']>[number] & keyof typeof SCOPE_WORDS;
type Preset = keyof typeof PRESETS;

const DAYS = [7, 30, 90, 365];

const NEVER_IN_TOKENS = ['workflows:approve', 'users:write', 'workspaces:write'];

/** The scopes of the person here that a token may carry: none that approves or administers. */
function grantable(): readonly Scope[] {
  return (workspace.value?.scopes ?? []).filter((scope): scope is Scope => !NEVER_IN_TOKENS.includes(scope));
}

export function MakeToken({ done }: { done: (made: { name: string; token: string }) => void }) {
  const name = useSignal('');
  const days = useSignal('90');
  const mayPlan = may('intents:apply');
  const preset = useSignal<string>(mayPlan ? 'default' : 'viewer');
  const scopes = useSignal<readonly Scope[]>([]);
  const { isActing, problem, act } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      const chosen = chosenScopes(preset.value as Preset, scopes.value);
      const body = { name: name.value, expiry: `${Number(days.value) * 24}h`, ...(chosen && { scopes: [...chosen] }) };
      const params = { header: { 'X-Workspace-Id': workspaceId.value ?? '' } };
      const made = await answer(api.POST('/api/v1/users/me/api-tokens', { params, body }));
      changed.value += 1;
      name.value = '';
      if ('token' in made) done(made);
    });
  };
  const presets = Object.entries(PRESETS).filter(([one]) => mayPlan || one !== 'default');
  return (
    <details>
      <summary>Create an API token</summary>
      <Form problem={problem} class="panel stack narrow" onSubmit={submit}>
        <TextField
          label="Name"
          hint={'Such as "nightly backup".'}
          value={name}
          required
          maxLength={128}
          autocomplete="off"
        />
        <SelectField
          label="Ends after"
          fields={['expiry']}
          value={days}
          options={DAYS.map((one) => [String(one), one === 365 ? 'a year' : `${one} days`])}
        />
        <SelectField label="Permissions" fields={['scopes']} value={preset} options={presets} />
        {preset.value === 'own' && (
          <fieldset>
            <legend class="visually-hidden">Permissions</legend>
            {grantable().map((scope) => (
              <label key={scope} class="check">
                <input
                  type="checkbox"
                  checked={scopes.value.includes(scope)}
                  onChange={({ currentTarget }) => {
                    const others = scopes.value.filter((one) => one !== scope);
                    scopes.value = currentTarget.checked ? [...others, scope] : others;
                  }}
                />
                <span>
                  {SCOPE_WORDS[scope]} <code class="dim small">{scope}</code>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            Create token
          </button>
        </div>
      </Form>
    </details>
  );
}

/** Undefined leaves it to the control plane: read, plan and apply. */
function chosenScopes(preset: Preset, own: readonly Scope[]): readonly (Scope | 'viewer')[] | undefined {
  if (preset === 'default') return undefined;
  if (preset === 'viewer') return ['viewer'];
  if (own.length === 0) throw new Problem({ title: 'Choose at least one.', code: 'page' });
  return own;
}
