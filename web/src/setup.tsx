import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Overview } from './api/types.ts';
import { may, workspaceId } from './api/workspace.ts';
import { Icon } from './design/icon.tsx';
import { PAGE_NAMES } from './pages/names.ts';
import { linkTo } from './route/route.ts';
import './setup.css';
import { Page } from './ui/page.tsx';

export type StepName = 'password' | 'workspace' | 'device' | 'policy' | 'agent';

const TITLES: Readonly<Record<StepName, string>> = {
  password: 'Choose a password',
  workspace: 'Create a workspace',
  device: 'Add a device',
  policy: 'Write a policy',
  agent: 'Connect an agent',
};

export interface Step {
  readonly name: StepName;
  readonly title: string;
  readonly isDone: boolean;
  /** Undefined where it is done before there is a workspace. */
  readonly href: string | undefined;
}

/**
 * Returns the steps from the first password on, each done once there is what it makes. Within a workspace they are those that
 * the person may take.
 *
 * @param overview of the workspace; undefined where there is none yet
 */
export function stepsOf(overview?: Pick<Overview, 'peers' | 'policies' | 'agents'>): readonly Step[] {
  const within: readonly (readonly [name: StepName, scope: string, count: number])[] = [
    ['device', 'tokens:write', overview?.peers.total ?? 0],
    ['policy', 'network:write', overview?.policies ?? 0],
    ['agent', 'agents:write', overview?.agents.total ?? 0],
  ];
  const step = (name: StepName, isDone: boolean, href?: string) => ({ name, title: TITLES[name], isDone, href });
  return [
    step('password', true),
    step('workspace', overview !== undefined),
    ...within
      .filter(([, scope]) => overview === undefined || may(scope))
      .map(([name, , count]) => step(name, count > 0, overview && linkTo('setup', [name]))),
  ];
}

interface SetupFrameProps {
  /** Undefined once there is none left. */
  readonly current: StepName | undefined;
  readonly steps: readonly Step[];
  readonly children: ComponentChildren;
}

/** The page of the first run: its steps, and the one that is open. */
export function SetupFrame({ current, steps, children }: SetupFrameProps) {
  return (
    <Page key={current} title={PAGE_NAMES.setup.title}>
      <ol class="setup" aria-label="Steps">
        {steps.map(({ name, title, isDone, href }, index) => (
          <li key={name} aria-current={name === current ? 'step' : undefined}>
            <span class={`number ${isDone ? 'done' : ''}`} aria-hidden="true">
              {isDone ? <Icon name="check" /> : index + 1}
            </span>
            {href === undefined ? title : <a href={href}>{title}</a>}
            {isDone && <span class="visually-hidden">, done</span>}
          </li>
        ))}
      </ol>
      {children}
    </Page>
  );
}

/** Ids of the workspaces whose setup was put away in this browser. */
const KEY = 'mesh.setup-hidden';
const hidden = signal<readonly string[]>(JSON.parse(localStorage.getItem(KEY) ?? '[]'));

export function isSetupHidden(): boolean {
  return hidden.value.includes(workspaceId.value ?? '');
}

export function hideSetup(): void {
  hidden.value = [...hidden.value, workspaceId.value ?? ''];
  localStorage.setItem(KEY, JSON.stringify(hidden.value));
}
