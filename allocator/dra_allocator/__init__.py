"""Structured-parameter allocation: a view of the devices and claims in, an outcome out. Pure and deterministic.

Data flow, from what is watched to what is written::

    ResourceSlice, Node, DeviceClass, DeviceTaintRule          AllocationResult (observed | assumed)
                       |                                                    |
                     table  --journal-->  masks, counts,  <--journal--   ledger
          rows, columns, traits,          occupancy, usability,    who holds which device
          scopes, pools                   ranks (all lazy)
                       |                         |                          |
                       +-------------------- view (overlays) ---------------+
                                                 |
      claims -> requests (resolved against classes and features)
                                                 |
               prefilter: counts of all nodes at once      which nodes may do, many of them decided by that
                                                 |
               problem:   one node's devices, in the documented order, and each request's candidates
                                                 |
               search + rules:   the first solution, exactly        one rule per module in `rules`: do, undo, prune
                                                 |
               result -> Allocation      or Rejection (explain: lazily) | AllocationError | OutOfBudget

The modules, by what they hold: `table`, `rows`, `columns`, `traits`, `records`, `visibility` (what is published);
`pools`, `usability`, `ranks` (what a node may use, in which order); `ledger`, `occupancy` (who holds it); `view`;
`masks`, `counts`, `sums`, `prefilter` (all nodes at once); `requests`, `candidates`, `problem`, `search`, `rules`
(one node, exactly); `attempt`, `feasible`, `allocator` (entry points, in steps); `result`; `reasons`, `explain`.

Who writes: the table and the ledger are written by their owner between decisions. Everything else only reads, or
catches up with them when asked. Nothing here reads a clock or a random source, and nothing waits.
"""
