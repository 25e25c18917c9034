import type { Overview } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';

interface Step {
  readonly name: string;
  readonly why: string;
  readonly href: string;
  readonly isDone: boolean;
  readonly isAllowed: boolean;
}

/** Shown until a first agent is connected. */
export function NextSteps({ overview: { peers, agents, policies } }: { overview: Overview }) {
  const steps: readonly Step[] = [
    {
      name: words.addDevice,
      why: words.addDeviceWhy,
      href: linkTo('join'),
      isDone: peers.total > 0,
      isAllowed: may('tokens:write'),
    },
    {
      name: words.connectAgent,
      why: words.connectAgentWhy,
      href: linkTo('connect'),
      isDone: agents.total > 0,
      isAllowed: may('agents:write'),
    },
    {
      name: words.firstPolicy,
      why: words.firstPolicyWhy,
      href: linkTo('policies', [], { view: 'new' }),
      isDone: policies > 0,
      isAllowed: may('network:write'),
    },
  ];
  const offered = steps.filter(({ isAllowed }) => isAllowed);
  if (offered.length === 0) return null;
  const next = offered.find(({ isDone }) => !isDone);
  return (
    <section class="panel stack">
      <h2>{words.steps}</h2>
      <p class="dim">{words.stepsWhy}</p>
      <ol class="steps">
        {offered.map((step) => (
          <li key={step.name} class="stack-small">
            <div class="row">
              <a class={`button ${step === next ? 'primary' : ''}`} href={step.href}>
                {step.name}
              </a>
              {step.isDone && <span class="tag ok">✓ {words.done}</span>}
            </div>
            <p class="dim small">{step.why}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
