import { answer, api } from '../../../api/client.ts';
import { FRAMEWORK_NAMES, type Framework } from '../../../api/frameworks.ts';
import { useLoaded } from '../../../api/load.ts';
import { may, workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { useAct } from '../../../ui/act.ts';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Schedule } from '../types.ts';

const CADENCES = { '': 'never', daily: 'daily', weekly: 'weekly', monthly: 'monthly', quarterly: 'quarterly' } as const;

const PATH = '/api/v1/ai/compliance/schedules/{framework}';

/** At most one schedule of each framework. */
export function Schedules() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/ai/compliance/schedules'));
  });
  const { isActing, problem: refused, act } = useAct();
  const { value, reload } = loaded.value;
  const isMay = may('members:write');
  const set = (framework: Framework, cadence: string) =>
    act(async () => {
      const name = FRAMEWORK_NAMES[framework];
      const params = { path: { framework } };
      if (cadence === '') await write(api.DELETE(PATH, { params }), `${name} is no longer scheduled.`);
      else {
        const body = { cadence: cadence as Schedule['cadence'], enabled: true };
        await write(api.PUT(PATH, { params, body }), `${name} is assessed ${cadence}.`);
      }
      reload();
    });
  const of = (framework: Framework) => value?.items.find((one) => one.framework === framework);
  const names = (Object.keys(FRAMEWORK_NAMES) as Framework[]).filter((one) => isMay || of(one));
  return (
    <section class="stack">
      <h2>Schedules</h2>
      <p class="dim">Assesses the last period at 03:00 in the time zone of the workspace.</p>
      <ProblemNotice problem={refused.value} />
      <ReadResult of={loaded.value}>
        {() => (
          <>
            {names.length === 0 && <Empty>No schedules yet. Set a cadence for a framework.</Empty>}
            <ul class="lines">
              {names.map((framework) => {
                const { cadence = '', next_at: next } = of(framework) ?? {};
                return (
                  <li key={framework} class="row">
                    <strong>{FRAMEWORK_NAMES[framework]}</strong>
                    {isMay ? (
                      <select
                        aria-label={`Cadence: ${FRAMEWORK_NAMES[framework]}`}
                        value={cadence}
                        disabled={isActing.value}
                        onChange={({ currentTarget }) => set(framework, currentTarget.value)}
                      >
                        {Object.entries(CADENCES).map(([name, text]) => (
                          <option key={name} value={name}>
                            {text}
                          </option>
                        ))}
                      </select>
                    ) : (
                      <span>{CADENCES[cadence]}</span>
                    )}
                    {next && (
                      <span class="dim">
                        Next <Time at={next} />
                      </span>
                    )}
                  </li>
                );
              })}
            </ul>
          </>
        )}
      </ReadResult>
    </section>
  );
}
