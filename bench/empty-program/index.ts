import "@pulumi/pulumi";
