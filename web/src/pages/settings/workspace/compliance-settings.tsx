import { type Signal, useSignal } from '@preact/signals';
import type { WorkspaceDetail } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { FRAMEWORK_NAMES, type Framework } from '../../../texts/frameworks.ts';
import { texts } from '../../../texts/texts.ts';
import { workspaceSettings as words } from '../../../texts/workspace-settings.ts';
import { useAct } from '../../../ui/act.ts';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, TextField } from '../../../ui/field.tsx';
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
      <h2 id="compliance-settings">{words.compliance}</h2>
      <p class="dim">{words.complianceWhy}</p>
      {may('members:write') ? (
        <ComplianceForm settings={settings} id={id} />
      ) : (
        <Facts
          facts={[
            [words.cde, cde?.join(' ')],
            [words.ephi, ephi?.join(' ')],
            [words.sources, sources?.join(' ')],
            [words.frameworks, frameworks?.map((one) => FRAMEWORK_NAMES[one]).join(', ') ?? words.frameworksAuto],
            [words.secondPerson, secondPerson ? texts.common.yes : texts.common.no],
            [words.reviews, [access, policies, activity].some(Boolean) && `${access}, ${policies}, ${activity}`],
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
    <form class="stack narrow" onSubmit={submit}>
      <TextField label={words.cde} hint={words.labelsHint} value={cde} autocomplete="off" />
      <TextField label={words.ephi} hint={words.labelsHint} value={ephi} autocomplete="off" />
      <TextField label={words.sources} hint={words.sourcesHint} value={sources} autocomplete="off" />
      <Frameworks chosen={frameworks} />
      <CheckField label={words.secondPerson} value={secondPerson} />
      <fieldset class="stack-small">
        <legend class="label">{words.reviews}</legend>
        <div class="row">
          <TextField label={words.access} value={access} {...days} />
          <TextField label={words.policies} value={policies} {...days} />
          <TextField label={words.activity} value={activity} {...days} />
        </div>
        <p class="hint dim">{words.reviewsHint}</p>
      </fieldset>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value}>
          {texts.common.save}
        </button>
      </div>
    </form>
  );
}

function Frameworks({ chosen }: { chosen: Signal<readonly Framework[] | undefined> }) {
  const own = chosen.value;
  return (
    <fieldset>
      <legend class="label">{words.frameworks}</legend>
      <label class="check">
        <input type="radio" name="frameworks" checked={own === undefined} onChange={() => (chosen.value = undefined)} />
        {words.frameworksAuto}
      </label>
      <label class="check">
        <input type="radio" name="frameworks" checked={own !== undefined} onChange={() => (chosen.value = [])} />
        {words.frameworksOwn}
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
