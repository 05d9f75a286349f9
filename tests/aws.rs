//! What AWS adds to the contracts of the ports: services that are not there or not ours, answers that get lost,
//! refusals, and what the environment says about all of it.

mod aws {
    mod answers;
    mod blobs;
    mod environment;
    mod large_messages;
    mod messages;
    mod node_queues;
    mod remote;
    mod shape;
}
