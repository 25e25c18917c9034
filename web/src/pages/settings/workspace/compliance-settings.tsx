import { type Signal, useSignal } from '@preact/signals';
import { FRAMEWORK_NAMES, type Framework } from '../../../api/frameworks.ts';
import type { WorkspaceDetail } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { useAct } from '../../../ui/act.ts';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { saveSettings, termsOf } from './save-settings.ts';

interface Props {
  readonly settings: WorkspaceDetail['settings'];
  readonly id: string;
}

/** Whom assessments are about, and how often people review. */
export function ComplianceSettings({ settings, id }: Props) {
  const { cde, ephi, sources, frameworks, secondPerson } = settings.compliance ?? {};
  const { access, policies, activity } = settings.reviews ?? {};
  return (
    <section class="stack" aria-labelledby="compliance-settings">
      <h2 id="compliance-settings">Compliance</h2>
      <p class="dim">What assessments cover, and which controls changes are checked against.</p>
      {may('members:write') ? (
        <ComplianceForm settings={settings} id={id} />
      ) : (
        <Facts
          facts={[
            ['Labels of peers with cardholder data', cde?.join(' ')],
            ['Labels of peers with health data', ephi?.join(' ')],
            ['Outside addresses that may reach them', sources?.join(' ')],
            [
              'Check changes against',
              frameworks?.map((one) => FRAMEWORK_NAMES[one]).join(', ') ?? 'frameworks whose data labels are in use',
            ],
            ['A change that breaks a control needs a second person', secondPerson ? 'yes' : 'no'],
            [
              'Days between reviews',
              [access, policies, activity].some(Boolean) && `${access}, ${policies}, ${activity}`,
            ],
          ]}
        />
      )}
    </section>
  );
}

function ComplianceForm({ settings: { compliance = {}, reviews = {} }, id }: Props) {
  const cde = useSignal(compliance.cde?.join(' ') ?? '');
  const ephi = useSignal(compliance.ephi?.join(' ') ?? '');
  const sources = useSignal(compliance.sources?.join(' ') ?? '');
  const secondPerson = useSignal(compliance.secondPerson ?? false);
  const frameworks = useSignal<readonly Framework[] | undefined>(compliance.frameworks);
  const access = useSignal(String(reviews.access ?? ''));
  const policies = useSignal(String(reviews.policies ?? ''));
  const activity = useSignal(String(reviews.activity ?? ''));
  const { isActing, problem, act } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    const cadences = definedDays({ access, policies, activity });
    return act(() =>
      saveSettings(id, {
        compliance: {
          cde: termsOf(cde.value) ?? null,
          ephi: termsOf(ephi.value) ?? null,
          sources: termsOf(sources.value) ?? null,
          frameworks: frameworks.value ? [...frameworks.value] : null,
          secondPerson: secondPerson.value || null,
        },
        reviews: Object.keys(cadences).length === 0 ? null : cadences,
      }),
    );
  };
  const days = { type: 'number', min: 1, max: 366 } as const;
  return (
    <Form problem={problem} class="stack narrow" onSubmit={submit}>
      <TextField
        label="Labels of peers with cardholder data"
        fields={['cde']}
        hint="As key=value, separated by spaces. Empty: the default labels."
        value={cde}
        autocomplete="off"
      />
      <TextField
        label="Labels of peers with health data"
        fields={['ephi']}
        hint="As key=value, separated by spaces. Empty: the default labels."
        value={ephi}
        autocomplete="off"
      />
      <TextField
        label="Outside addresses that may reach them"
        fields={['sources']}
        hint="As 203.0.113.0/24, separated by spaces."
        value={sources}
        autocomplete="off"
      />
      <Frameworks chosen={frameworks} />
      <CheckField
        label="A change that breaks a control needs a second person"
        fields={['secondPerson']}
        value={secondPerson}
      />
      <fieldset class="stack-small">
        <legend class="label">Days between reviews</legend>
        <div class="row">
          <TextField label="of access" value={access} {...days} />
          <TextField label="of the policies" value={policies} {...days} />
          <TextField label="of the audit log" value={activity} {...days} />
        </div>
        <p class="hint dim">Empty: 184, 184 and 92 days, without reminders until the first review is finished.</p>
      </fieldset>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value}>
          Save
        </button>
      </div>
    </Form>
  );
}

function Frameworks({ chosen }: { chosen: Signal<readonly Framework[] | undefined> }) {
  const own = chosen.value;
  return (
    <fieldset>
      <legend class="label">Check changes against</legend>
      <label class="check">
        <input type="radio" name="frameworks" checked={own === undefined} onChange={() => (chosen.value = undefined)} />
        frameworks whose data labels are in use
      </label>
      <label class="check">
        <input type="radio" name="frameworks" checked={own !== undefined} onChange={() => (chosen.value = [])} />
        these:
      </label>
      {own && (
        <div class="row">
          {(Object.keys(FRAMEWORK_NAMES) as Framework[]).map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={own.includes(name)}
                onChange={({ currentTarget }) => {
                  const others = own.filter((one) => one !== name);
                  chosen.value = currentTarget.checked ? [...others, name] : others;
                }}
              />
              {FRAMEWORK_NAMES[name]}
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}

function definedDays<N extends string>(fields: Record<N, Signal<string>>): Partial<Record<N, number>> {
  const given = (Object.entries(fields) as [N, Signal<string>][]).filter(([, { value }]) => value !== '');
  return Object.fromEntries(given.map(([name, { value }]) => [name, Number(value)])) as Partial<Record<N, number>>;
}
