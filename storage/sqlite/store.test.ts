import { silentLog } from '../../core/base/silent-log.ts';
import { storeContract } from '../contract.test-suite.ts';
import { openSqliteStore } from './store.ts';

storeContract('the SQLite store', (clock) => openSqliteStore({ path: ':memory:', clock, log: silentLog }));
