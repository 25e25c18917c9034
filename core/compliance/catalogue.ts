import { hipaa } from './catalogues/hipaa.ts';
import { pciDss } from './catalogues/pci-dss.ts';
import { soc2 } from './catalogues/soc2.ts';
import type { CheckName } from './checks/index.ts';
import type { Framework } from './frameworks.ts';

/** A control of a framework and the check that judges it. */
export interface Control {
  readonly id: string;
  readonly title: string;
  readonly check: CheckName;
  /** `partial`: the check shows a part of what the control asks for; the caveat says what it leaves. */
  readonly strength: 'strong' | 'partial';
  readonly caveat: string;
  readonly references: readonly string[];
  /**
   * True for the four controls of the contract: each passes or fails, and its evidence says when there was nothing to judge.
   */
  readonly isOfContract?: true;
}

/** Which peers the controls of a framework are about. */
export type DataScope = 'cde' | 'ephi' | 'everyone';

export interface Catalogue {
  readonly framework: Framework;
  readonly title: string;
  readonly scope: DataScope;
  /** The name for the peers in scope. */
  readonly subject: string;
  readonly controls: readonly Control[];
}

const CATALOGUES: Readonly<Record<Framework, Catalogue>> = { 'pci-dss': pciDss, soc2, hipaa };

export function catalogueOf(framework: Framework): Catalogue {
  return CATALOGUES[framework];
}
